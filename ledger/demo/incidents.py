"""What goes wrong in the demo while runs hold their machines: drawn hour by hour among the runs of that hour.

So there is always something to look at, and the same hour of the same world always has the same troubles.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from random import Random
from typing import NamedTuple

from ledger.core.windows import HOUR
from ledger.demo.names import TROUBLED
from ledger.demo.world import FIRST, Placed, Played, type_place

MINUTE = 60_000


class Kind(StrEnum):
    FREEZE = "freeze"  # no step, GPUs at 100 %, until it goes on by itself
    HANG = "hang"  # the same, until somebody restarts it
    CRASH = "crash"  # all workers fail and are started again on the same machines
    LOST = "lost"  # one machine is lost for a while, the rest of the gang waits in its collective
    EVICT = "evict"  # pushed aside by somebody more important, and started again as soon as it has saved its state
    SLOW = "slow"  # one worker of the gang is slower than the others


class Rate(NamedTuple):
    """How likely a trouble begins in an hour, and how long it lasts, minutes."""

    chance: float
    shortest: int
    longest: int


RATES = {
    Kind.FREEZE: Rate(0.75, 25, 80),
    Kind.HANG: Rate(0.55, 30, 85),
    Kind.CRASH: Rate(0.90, 5, 32),
    Kind.LOST: Rate(0.22, 14, 38),
    Kind.EVICT: Rate(0.50, 6, 28),
    Kind.SLOW: Rate(0.90, 25, 70),
}
LEAD = 40 * MINUTE  # an attempt runs at least so long before its first trouble
TAIL = 150 * MINUTE  # and has so much left after the hour in which one begins
CALM = 35 * MINUTE  # between two troubles of one attempt
GANG_FOR_STRAGGLERS = 3
TROUBLED_WEIGHT = 7
EVICTING_POOL, EVICTED_WEIGHT = "l40s", 4  # whoever is in this pool is there on sufferance


class Incident(NamedTuple):
    """[start, end) in ms; `worker` is the index of the one that is lost or slow."""

    kind: Kind
    start: int
    end: int
    worker: int


class _Attempt(NamedTuple):
    start: int
    end: int
    run: Played
    number: int
    pool: str
    troubled: bool

    def weight(self, kind: Kind) -> int:
        if kind is Kind.EVICT:
            return EVICTED_WEIGHT if self.pool == EVICTING_POOL else 1
        return TROUBLED_WEIGHT if self.troubled else 1


def incidents(
    all_played: Iterable[Played], placed: Mapping[type_place, Placed], seed: str
) -> dict[type_place, list[Incident]]:
    """Return the troubles of each attempt in the order of their begin; those that break it never overlap."""
    waiting = sorted(_attempts(all_played, placed), key=lambda a: (a.start, a.run.uid, a.number), reverse=True)
    until = max((a.end for a in waiting), default=FIRST)
    found: dict[type_place, list[Incident]] = {}
    active: list[_Attempt] = []
    for hour in range(FIRST, until, HOUR):
        while waiting and waiting[-1].start + LEAD <= hour:
            active.append(waiting.pop())
        active = [a for a in active if a.end - TAIL >= hour + HOUR]
        _draw(Random(f"{seed}/hour/{hour}"), hour, active, found)  # noqa: S311
    return found


def _attempts(all_played: Iterable[Played], placed: Mapping[type_place, Placed]) -> Iterable[_Attempt]:
    for run in all_played:
        for number, (start, end) in enumerate(run.attempts):
            pool, machines = placed[run.uid, number]
            yield _Attempt(start, end, run, number, pool, bool(TROUBLED.intersection(machines)))


def _draw(dice: Random, hour: int, active: list[_Attempt], found: dict[type_place, list[Incident]]) -> None:
    for kind, rate in RATES.items():
        if dice.random() >= rate.chance:
            continue
        start = hour + dice.randrange(HOUR)
        end = start + dice.randrange(rate.shortest * MINUTE, rate.longest * MINUTE)
        candidates = [a for a in active if _can_have(kind, start, end, a, found)]
        if candidates:
            chosen = dice.choices(candidates, [a.weight(kind) for a in candidates])[0]
            worker = dice.randrange(len(chosen.run.gang))
            found.setdefault((chosen.run.uid, chosen.number), []).append(Incident(kind, start, end, worker))


def _can_have(kind: Kind, start: int, end: int, attempt: _Attempt, found: Mapping[type_place, list[Incident]]) -> bool:
    if kind is Kind.SLOW:
        return len(attempt.run.gang) >= GANG_FOR_STRAGGLERS
    if kind is Kind.LOST and len(attempt.run.gang) == 1:
        return False
    others = (i for i in found.get((attempt.run.uid, attempt.number), ()) if i.kind is not Kind.SLOW)
    return all(end + CALM <= other.start or other.end + CALM <= start for other in others)
