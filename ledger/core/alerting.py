"""When a goodput has dropped, by whole numbers of a final hour and of the day before; and what becomes of an alert.

Amounts are GPU-microseconds. Nothing here divides: a limit is met exactly or it is not.
"""

from dataclasses import dataclass
from enum import Enum

from ledger.core.windows import DAY

PERCENT = 100_000  # thousandths of a percent in a whole
UNOBSERVED_MAX = 20_000  # an hour of which more than this part was not observed is not judged
QUIET = DAY  # an alert about what held too little to be judged for so long is over


@dataclass(frozen=True, slots=True)
class Limits:
    """The three numbers: goodput under so much, by so many points less than before, with so much held.

    In thousandths of a percent, in thousandths of a point, and in GPU-microseconds.
    """

    below: int = 50_000
    points: int = 20_000
    least_held: int = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Spent:
    """What was held, how much of that was productive, and how much was not observed."""

    held: int = 0
    productive: int = 0
    unobserved: int = 0


class Verdict(Enum):
    """What a final hour says: a drop, none, or nothing, for too little was held, observed or there before."""

    DROP = "drop"
    FINE = "fine"
    UNTOLD = "untold"


def judge(hour: Spent, day: Spent | None, limits: Limits) -> Verdict:
    """Judge a final hour by the 24 hours before it; `day` is None when those were not all counted."""
    if hour.held == 0 or hour.held < limits.least_held or day is None or day.held == 0:
        return Verdict.UNTOLD
    if hour.unobserved * PERCENT > UNOBSERVED_MAX * hour.held:
        return Verdict.UNTOLD
    is_low = hour.productive * PERCENT < limits.below * hour.held
    lost = day.productive * hour.held - hour.productive * day.held
    is_less = lost * PERCENT >= limits.points * day.held * hour.held
    return Verdict.DROP if is_low and is_less else Verdict.FINE


class Step(Enum):
    """What becomes of an alert."""

    NOTHING = "nothing"
    FIRE = "fire"
    RESOLVE = "resolve"


def step(verdict: Verdict, hour: int, firing_since_told: int | None) -> Step:
    """Return what a verdict on `hour` (ms) does; `firing_since_told` is the last hour that told of an open alert.

    An hour that says nothing leaves an open alert as it is, until nothing was said for a day.
    """
    if firing_since_told is None:
        return Step.FIRE if verdict is Verdict.DROP else Step.NOTHING
    if verdict is Verdict.FINE:
        return Step.RESOLVE
    if verdict is Verdict.UNTOLD and hour - firing_since_told >= QUIET:
        return Step.RESOLVE
    return Step.NOTHING


def passes(productive: int, held: int, least_milli: int) -> bool | None:
    """Tell whether a run's goodput reached its least (in thousandths); None: nothing was held."""
    return None if held == 0 else productive * 1000 >= least_milli * held
