"""When a worker is stalled: proven by its own steps, or with its gang when it tells none."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ledger.core.facts import FOREVER, Left, Range, Stall, union
from ledger.core.timeline import Stretch, stays


def stalled_in(stays: Sequence[Range], stalls: Iterable[Stall]) -> tuple[Range, ...]:
    """Return when steps prove a stall: progress and proof lie in one stay, which also ends it."""
    return union(
        (stall.progress_at, min(stall.until, end))
        for stall in stalls
        for begin, end in stays
        if begin <= stall.progress_at and stall.proof_at < end
    )


def telling_in(stays: Sequence[Range], told: Sequence[Range]) -> list[Range]:
    """Return for each stay the part of it, maybe empty, in which a step has been told in it already.

    `told` are ranges [first sample, last sample + 1) of samples that follow each other closely.
    """
    parts = []
    for begin, end in stays:
        first = next((lower for lower, upper in told if upper > begin), FOREVER)
        parts.append((min(max(begin, first), end), end))
    return parts


def gang_stalled(members: Iterable[tuple[Sequence[Range], Sequence[Range]]]) -> tuple[Range, ...]:
    """Return when at least one member tells steps and all that tell are stalled; a member = (telling, stalled)."""
    telling: Counter[int] = Counter()
    stalled: Counter[int] = Counter()
    for tells, stalls in members:
        _count(telling, tells)
        _count(stalled, stalls)
    told = stuck = 0
    edges = sorted({*telling, *stalled})
    ranges = []
    for at, upper in pairwise([*edges, FOREVER]):
        told += telling[at]
        stuck += stalled[at]
        assert 0 <= stuck <= told, "only a worker that tells steps can be proven stalled by them"
        if 0 < stuck == told:
            ranges.append((at, upper))
    return union(ranges)


def gang_of(members: Iterable[tuple[Sequence[Stretch], Left]]) -> tuple[Range, ...]:
    """Return when a gang of workers, each by its stretches and what its samples left, is stalled as a whole."""
    running = [(stays(stretches), left) for stretches, left in members]
    return gang_stalled((telling_in(runs, left.told), stalled_in(runs, left.stalls)) for runs, left in running)


def _count(steps: Counter[int], ranges: Sequence[Range]) -> None:
    for lower, upper in ranges:
        steps[lower] += 1
        steps[upper] -= 1
