"""The evidence that is counted: states, what samples left, lists, and the dated settings. Instants are UTC ms."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ledger.core.categories import Category, Phase

Range = tuple[int, int]  # half open [from, to), ms
FOREVER = 1 << 62  # the end of what has not ended


class State(NamedTuple):
    """A partial fact about one worker from `at` on; an absent field is None (phase: NONE, reason: "").

    Machines, pools and sources are numbers of the caller; `content` is the order among equal
    (at, attempt, phase), made from their names by `content_of`.
    """

    at: int
    attempt: int | None
    phase: Phase
    content: str
    reason: str = ""
    gpus_milli: int | None = None
    machine: int | None = None
    pool: int | None = None
    stalled: bool | None = None
    source: int = 0

    @property
    def order(self) -> tuple[int, int, int, str]:
        return (self.at, self.attempt or 0, self.phase, self.content)


def content_of(
    reason: str,
    gpus_milli: int | None,
    machine: str | None,
    pool: str | None,
    stalled: bool | None,
    source: str,
) -> str:
    """Return the canonical content of a state: it sorts by field, absent first, and is unique with its head."""
    fields = (
        reason,
        "" if gpus_milli is None else f"{gpus_milli:07d}",
        "" if machine is None else f"={machine}",
        "" if pool is None else f"={pool}",
        "" if stalled is None else str(int(stalled)),
        source,
    )
    return "\t".join(fields)


class Gone(NamedTuple):
    """A source's complete lists lack the worker: seen at `at`, lacking since `missing_since`, last named at `proof`."""

    at: int
    missing_since: int
    proof: int


class Flip(NamedTuple):
    """From `at` on the last usable reading is busy, or idle."""

    at: int
    busy: bool


class Stall(NamedTuple):
    """No progress since `progress_at`, proven by the sample at `proof_at`, until the next progress (FOREVER: none)."""

    progress_at: int
    proof_at: int
    until: int = FOREVER


class Rule(NamedTuple):
    """The dated settings of a cluster, in force from a whole hour on."""

    since: int
    unmeasured_as: Category = Category.PRODUCTIVE
    readings_expected: bool = True


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The settings that act when a sample arrives: busy from this many thousandths of a percent; times in ms."""

    busy_milli_percent: int = 5_000
    stall_after: int = 600_000
    carry_max: int = 300_000


@dataclass(frozen=True, slots=True)
class Left:
    """What a worker's samples left: flips, proven stalls, and the ranges that readings cover and steps tell."""

    flips: tuple[Flip, ...] = ()
    stalls: tuple[Stall, ...] = ()
    covered: tuple[Range, ...] = ()
    told: tuple[Range, ...] = ()


def union(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return the union of half-open ranges as sorted, disjoint, non-touching ranges."""
    merged: list[Range] = []
    for lower, upper in sorted(ranges):
        if lower >= upper:
            continue
        if merged and lower <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], upper))
        else:
            merged.append((lower, upper))
    return tuple(merged)


def opened(ranges: tuple[Range, ...], now: int) -> tuple[Range, ...]:
    """Return ranges with the end of the last left open, if `now` lies in it: up to `now` they cover the same."""
    if not covers(ranges[-1:], now):
        return ranges
    return (*ranges[:-1], (ranges[-1][0], FOREVER))


def covers(ranges: tuple[Range, ...], at: int) -> bool:
    """Tell whether `at` lies in one of the sorted, disjoint ranges."""
    place = bisect_right(ranges, (at, FOREVER + 1))
    return place > 0 and at < ranges[place - 1][1]
