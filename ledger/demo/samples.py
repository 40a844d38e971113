"""What the workers of a script say: the states they pass through, and the readings of their GPUs and steps."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from ledger.core.categories import Phase
from ledger.core.windows import HOUR, WEEK
from ledger.demo.incidents import MINUTE
from ledger.demo.names import POOLS
from ledger.demo.script import END_REASONS, Leg, Script, steps_at, type_range
from ledger.demo.world import FIRST, machine_names
from ledger.replay.trace import TraceState

PROOF = 11 * MINUTE  # a step told again so long after it was reached proves a stall
DARK_MACHINES, DARK_POOLS, OUTAGES = 0.10, 0.12, 0.4  # how likely in a week
type_dark = Mapping[str, Sequence[type_range]]


class Sample(NamedTuple):
    """A reading; `since` covers the time before it. Busy in thousandths of a percent, instants and steps in ms."""

    at: int
    since: int
    busy_milli_percent: int
    step: int | None = None
    step_ms: int | None = None


def states(script: Script, worker: int) -> tuple[TraceState, ...]:
    """Return all states of a worker's life, in order."""
    gpus = script.run.gang[worker] * 1000
    found: list[TraceState] = []
    for leg in script.legs:
        if leg.wait is not None:
            found.append(TraceState(leg.wait[0], Phase.PENDING, leg.wait[1], leg.number, gpus, None, leg.pool))
        machine = leg.machines[worker]
        found.append(TraceState(leg.begin, Phase.STARTING, "", leg.number, gpus, machine, leg.pool))
        found.append(TraceState(leg.runs, Phase.RUNNING, "", leg.number))
        found += _end_of(leg, worker)
    over = script.legs[-1].over
    return (*found, TraceState(over, Phase.ENDED, END_REASONS[script.outcome], script.legs[-1].number))


def _end_of(leg: Leg, worker: int) -> list[TraceState]:
    if leg.broken is not None and leg.broken[0] == worker:
        return [TraceState(leg.broken[1], Phase.LOST, "node_lost", leg.number)]
    if leg.over == leg.stops:
        return []
    if leg.last is Phase.LOST:
        return [TraceState(leg.stops, Phase.FAILED, "failure", leg.number)]
    return [TraceState(leg.stops, leg.last, leg.reason, leg.number)]


def samples(script: Script, worker: int, after: int, until: int, dark: type_dark) -> Iterator[Sample]:
    """Yield a worker's readings in (after, until], in order: at each flip, around each stall, and at `until`.

    Each covers the time since the one before, or since `after`, but what `dark` says of its machine.
    """
    for leg in script.legs:
        stops = leg.stops if leg.broken is None or leg.broken[0] != worker else leg.broken[1]
        if stops <= after or leg.runs > until:
            continue
        for part in but(leg.runs, stops, dark.get(leg.machines[worker], ())):
            yield from _part(script, leg, worker, part, after, until)


def _part(script: Script, leg: Leg, worker: int, part: type_range, after: int, until: int) -> Iterator[Sample]:
    begin, end = part
    steps = _step_marks(leg, script.step_ms) | {until}
    flips = {at for idle in leg.idle for at in idle}
    marks = {begin, max(begin, end - MINUTE), *flips, *steps}
    since = max(begin, after)
    for at in sorted(mark for mark in marks if begin <= mark < end and after < mark <= until):
        step = steps_at(leg, at, script.step_ms) if at in steps else None
        step_ms = _step_ms(script, leg, worker, at) if at in steps else None
        yield Sample(at, since, _busy(script, leg, worker, at), step, step_ms)
        since = at


def _step_marks(leg: Leg, step_ms: int) -> set[int]:
    """Return the instants that make a stall known: its begin, its proof, and the step that ends it."""
    return {at for start, end in leg.stalls for at in (start, start + PROOF, end + step_ms)}


def _busy(script: Script, leg: Leg, worker: int, at: int) -> int:
    noise = zlib.crc32(f"{script.run.uid}/{worker}/{at}".encode())
    if any(start <= at < end for start, end in leg.idle):
        return noise % 3_900
    if any(start <= at < end for start, end in leg.stalls):
        return 99_000 + noise % 1_000
    return 76_000 + noise % 23_000


def _step_ms(script: Script, leg: Leg, worker: int, at: int) -> int:
    noise = zlib.crc32(f"{script.run.uid}/{worker}/{at}/step".encode())
    slow = any(i.worker == worker and i.start <= at < i.end for i in leg.slow)
    return round(script.step_ms * (1.48 if slow else 1.0) * (0.98 + noise % 1_000 / 25_000))


def but(begin: int, end: int, holes: Sequence[type_range]) -> list[type_range]:
    """Return [begin, end) without the holes, which are in order and apart."""
    parts, at = [], begin
    for start, stop in holes:
        if start < end and stop > at:
            parts.append((at, start))
            at = stop
    parts.append((at, end))
    return [(low, high) for low, high in parts if low < high]


def dark_machines(seed: str, until: int) -> dict[str, list[type_range]]:
    """Return when the GPU exporter of a machine, or of a whole pool, gave no readings, from FIRST to `until`."""
    pools = {pool.name: gaps(f"{seed}/pool/{pool.name}", until, DARK_POOLS, 1, 4) for pool in POOLS}
    found = {}
    for machine, (pool, _) in machine_names().items():
        own = gaps(f"{seed}/machine/{machine}", until, DARK_MACHINES, 1, 9)
        found[machine] = _apart(sorted([*pools[pool], *own]))
    return found


def outages(seed: str, until: int) -> list[type_range]:
    """Return when the collector itself was away, from FIRST to `until`; only the played history has such."""
    return gaps(f"{seed}/outage", until, OUTAGES, 0.4, 1.6)


def gaps(seed: str, until: int, chance: float, shortest: float, longest: float) -> list[type_range]:
    found = []
    for week in range(FIRST, until, WEEK):
        dice = Random(f"{seed}/{week}")  # noqa: S311
        start = week + dice.randrange(WEEK - 12 * HOUR)
        length = round(dice.uniform(shortest, longest) * HOUR)
        if dice.random() < chance:
            found.append((start, start + length))
    return found


def _apart(ranges: Sequence[type_range]) -> list[type_range]:
    found: list[type_range] = []
    for start, end in ranges:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
