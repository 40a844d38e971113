"""Readings that leave what a worker's readings left: far fewer than came, and counted the same."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ledger.core.facts import FOREVER, Flip, Left, Range, Stall, Thresholds
from ledger.core.streams import Doing, Reading, Stream

BUSY, IDLE = 100_000, 0


def readings(left: Left, stream: Stream, stays: Sequence[Range], limits: Thresholds) -> list[Reading]:
    """Return readings in order, from which the same flips, coverage and stalls follow in these stays.

    `left` has the open ends of the stream's ranges in it. It holds for the limits under which the readings came.
    """
    busy = busy_readings(left.flips, left.covered, limits.carry_max)
    steps = step_readings(left.stalls, left.told, stream, stays, limits.carry_max)
    return sorted([*busy, *steps], key=lambda reading: reading.at)


def busy_readings(flips: Sequence[Flip], covered: Iterable[Range], carry_max: int) -> Iterator[Reading]:
    """Yield for each covered range a reading at each flip in it, and one from which it runs out."""
    for lower, upper in covered:
        end = max(lower, upper - carry_max)
        since = lower
        for at in sorted({end, *(flip.at for flip in flips if lower <= flip.at <= end)}):
            yield Reading(at, since, busy_milli_percent=_busy_at(flips, at))
            since = at


def _busy_at(flips: Sequence[Flip], at: int) -> int:
    last = [flip.busy for flip in flips if flip.at <= at][-1:]
    assert last, "the first reading of all is a flip"
    return BUSY if last[0] else IDLE


def step_readings(
    stalls: Sequence[Stall], told: Sequence[Range], stream: Stream, stays: Iterable[Range], carry_max: int
) -> list[Reading]:
    """Return the steps that begin, prove and end each stall, those that show that a stay was told of, and the last."""
    if stream.step is None or stream.step_at is None or stream.progress_at is None:
        return []
    standing = [(stall.progress_at, stall.until) for stall in stalls]
    standing.append((stream.progress_at, FOREVER))
    marks = {at for stall in stalls for at in (stall.progress_at, stall.proof_at, stall.until)} - {FOREVER}
    marks |= {stream.progress_at, stream.step_at}
    marks |= {at for stay in stays for at in _telling(stay, told, carry_max)}
    order = sorted(at for at in marks if at <= stream.step_at)
    proofs = {stall.proof_at for stall in stalls}
    steps = _numbers(order, standing, stream.step)
    found = []
    for at, step in zip(order, steps, strict=True):
        since = min((begin for begin, end in standing if begin < at < end), default=at)
        patience = 0 if at in proofs else -(-(at - since) // 5)
        found.append(Reading(at, step=step, step_ms=patience))
    return [*found[:-1], found[-1]._replace(step_ms=_last_step_ms(stream, found[-1]), doing=Doing(stream.doing))]


def _last_step_ms(stream: Stream, last: Reading) -> int | None:
    """What the stream knew last stays known; a stream that never told how long a step takes cannot be told so again."""
    return last.step_ms if stream.step_ms is None else stream.step_ms


def _telling(stay: Range, told: Sequence[Range], carry_max: int) -> Iterator[int]:
    """Yield the samples that make the worker told of from the same instant of the stay on."""
    begin, end = stay
    first = next(((lower, upper) for lower, upper in told if upper > begin), None)
    if first is None or first[0] >= end:
        return
    lower, upper = first
    if lower >= begin:
        yield lower
        return
    before = max(lower, begin - carry_max // 2)
    yield before
    yield min(upper - 1, before + carry_max)


def _numbers(order: Sequence[int], standing: Sequence[Range], last: int) -> list[int]:
    """Return a step for each instant: the same as before while the step stood, else another; the last is `last`."""
    stood = [any(begin <= a and b < end for begin, end in standing) for a, b in pairwise(order)]
    other = last - 1 if last else last + 1
    steps = [last]
    for stands in reversed(stood):
        steps.append(steps[-1] if stands else (other if steps[-1] == last else last))
    return steps[::-1]
