"""When the demo's machines are down: each now and then, for some hours in which nobody holds them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ledger.core.windows import HOUR, WEEK
from ledger.demo.names import TROUBLED
from ledger.demo.samples import but, gaps
from ledger.demo.script import type_range
from ledger.demo.world import Placed, Played, machine_names, type_place

CHANCE, TROUBLED_CHANCE = 0.25, 0.9  # how likely a machine needs a repair in a week
SHORTEST, LONGEST = 3, 34  # hours
LEAST = HOUR  # what is left of a repair between two runs, or it is put off for another week
type_repairs = Mapping[str, Sequence[type_range]]


def repairs(all_played: Iterable[Played], placed: Mapping[type_place, Placed], seed: str, until: int) -> type_repairs:
    """Return when each machine was not ready, in order and apart, from FIRST to `until` (ms)."""
    held = _held(all_played, placed)
    found: dict[str, list[type_range]] = {machine: [] for machine in machine_names()}
    for machine, before in found.items():
        chance = TROUBLED_CHANCE if machine in TROUBLED else CHANCE
        for begin, end in gaps(f"{seed}/repair/{machine}", until + WEEK, chance, SHORTEST, LONGEST):
            free = [part for part in but(begin, end, held[machine]) if part[1] - part[0] >= LEAST]
            if free and (not before or before[-1][1] < free[0][0]):
                before.append(free[0])
    return found


def _held(all_played: Iterable[Played], placed: Mapping[type_place, Placed]) -> dict[str, list[type_range]]:
    """Return when anybody held each machine, by its begin."""
    found: dict[str, list[type_range]] = defaultdict(list)
    for run in all_played:
        for number, attempt in enumerate(run.attempts):
            for machine in placed[run.uid, number].machines:
                found[machine].append(attempt)
    return defaultdict(list, {machine: sorted(ranges) for machine, ranges in found.items()})


def is_ready(machine: str, at: int, found: type_repairs) -> bool:
    return not any(begin <= at < end for begin, end in found.get(machine, ()))


def turns(found: type_repairs, after: int, until: int) -> list[tuple[int, str]]:
    """Return (instant, machine) of each that became ready, or stopped being it, in (after, until], in order."""
    every = ((at, machine) for machine, ranges in found.items() for one in ranges for at in one)
    return sorted(turn for turn in every if after < turn[0] <= until)
