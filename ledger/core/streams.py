"""What a worker's samples leave behind: the last reading, busy flips, proven stalls, and what they cover and tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from ledger.core.facts import FOREVER, Flip, Range, Stall, Thresholds

RECENT_MAX = 5  # step times that are kept of each worker


class Doing(IntEnum):
    """What a process says it does instead of steps."""

    NONE = 0
    CHECKPOINT = 1
    EVALUATION = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class Reading(NamedTuple):
    """A sample at `at` (ms): busy in thousandths of a percent, or a step, or both; `since` covers the time before."""

    at: int
    since: int | None = None
    busy_milli_percent: int | None = None
    step: int | None = None
    step_ms: int | None = None
    doing: Doing = Doing.NONE


class Stream(NamedTuple):
    """The newest of a worker's two streams, and the open ends of what they cover and tell.

    `covered` [from, to) is the last covered range, `told` [first, last] the last run of close step samples.
    `doing` is a `Doing` of the newest step sample, `recent` the last step times of samples that were progress, ms.
    """

    busy_at: int | None = None
    busy: bool | None = None
    step_at: int | None = None
    step: int | None = None
    step_ms: int | None = None
    progress_at: int | None = None
    proven: bool = False
    covered_from: int | None = None
    covered_to: int | None = None
    told_from: int | None = None
    told_to: int | None = None
    doing: int = Doing.NONE
    recent: Sequence[int] = ()

    @property
    def covered(self) -> tuple[Range, ...]:
        return () if self.covered_from is None or self.covered_to is None else ((self.covered_from, self.covered_to),)

    @property
    def told(self) -> tuple[Range, ...]:
        return () if self.told_from is None or self.told_to is None else ((self.told_from, self.told_to + 1),)


@dataclass(slots=True)
class Trace:
    """What taking a reading added: facts to keep, ranges that are now complete, and from when the past changed."""

    flips: list[Flip] = field(default_factory=list)
    proofs: list[Stall] = field(default_factory=list)
    resumed: list[tuple[int, int]] = field(default_factory=list)  # (progress_at of the stall, its end)
    covered: list[Range] = field(default_factory=list)
    told: list[Range] = field(default_factory=list)
    changed: int = FOREVER
    telling_changed: int = FOREVER
    late: int = 0
    duplicate: int = 0
    taken: int = 0

    def dirty(self, at: int) -> None:
        self.changed = min(self.changed, at)


def take(stream: Stream, reading: Reading, limits: Thresholds, now: int, trace: Trace) -> Stream:
    """Return the stream after one more reading and note in `trace` what it left; an older one changes nothing.

    No progress is expected of who is `doing` something else: each sample that says so, and the first that no longer
    does, counts as progress.
    """
    if reading.busy_milli_percent is not None:
        stream = _take_busy(stream, reading, reading.busy_milli_percent, limits, now, trace)
    if reading.step is not None:
        stream = _take_step(stream, reading, reading.step, limits, trace)
    return stream


def _is_new(newest: int | None, at: int, trace: Trace) -> bool:
    if newest is None or at > newest:
        trace.taken += 1
        return True
    if at == newest:
        trace.duplicate += 1
    else:
        trace.late += 1
    return False


def _take_busy(stream: Stream, reading: Reading, value: int, limits: Thresholds, now: int, trace: Trace) -> Stream:
    if not _is_new(stream.busy_at, reading.at, trace):
        return stream
    busy = value >= limits.busy_milli_percent
    if busy is not stream.busy:
        trace.flips.append(Flip(reading.at, busy))
        trace.dirty(reading.at)
    lower = reading.at if reading.since is None else reading.since
    return _cover(stream._replace(busy_at=reading.at, busy=busy), lower, reading.at + limits.carry_max, now, trace)


def _cover(stream: Stream, lower: int, upper: int, now: int, trace: Trace) -> Stream:
    """Join [lower, upper) to the open range when they touch, else complete that one and open a new one."""
    old_from, old_to = stream.covered_from, stream.covered_to
    if old_from is None or old_to is None or lower > old_to:
        if old_from is not None and old_to is not None:
            trace.covered.append((old_from, old_to))
            trace.dirty(old_to)
        trace.dirty(lower)
        return stream._replace(covered_from=lower, covered_to=upper)
    if lower < old_from:
        trace.dirty(lower)
    if old_to <= now and old_to < upper:
        trace.dirty(old_to)
    return stream._replace(covered_from=min(lower, old_from), covered_to=max(upper, old_to))


def _take_step(stream: Stream, reading: Reading, step: int, limits: Thresholds, trace: Trace) -> Stream:
    if not _is_new(stream.step_at, reading.at, trace):
        return stream
    stream = _tell(stream, reading.at, limits, trace)
    step_ms = stream.step_ms if reading.step_ms is None else reading.step_ms
    if step != stream.step or reading.doing or stream.doing:
        if stream.proven and stream.progress_at is not None:
            trace.resumed.append((stream.progress_at, reading.at))
            trace.dirty(reading.at)
        return stream._replace(
            step_at=reading.at, step=step, step_ms=step_ms, progress_at=reading.at, proven=False,
            doing=reading.doing, recent=_recent(stream, reading),
        )  # fmt: skip
    assert stream.progress_at is not None, "a step that was told before had its progress"
    limit = max(limits.stall_after, 5 * (step_ms or 0))
    proves = not stream.proven and reading.at - stream.progress_at > limit
    if proves:
        trace.proofs.append(Stall(stream.progress_at, reading.at))
        trace.dirty(stream.progress_at)
    return stream._replace(step_at=reading.at, step_ms=step_ms, proven=stream.proven or proves)


def _recent(stream: Stream, reading: Reading) -> Sequence[int]:
    """A step that is told again says nothing new about how long one takes."""
    if reading.step_ms is None or reading.step == stream.step:
        return stream.recent
    return (*stream.recent[1 - RECENT_MAX :], reading.step_ms)


def _tell(stream: Stream, at: int, limits: Thresholds, trace: Trace) -> Stream:
    told_to = stream.told_to
    if told_to is not None and at - told_to <= limits.carry_max:
        trace.telling_changed = min(trace.telling_changed, told_to)
        return stream._replace(told_to=at)
    trace.telling_changed = min(trace.telling_changed, at)
    if stream.told_from is not None and told_to is not None:
        trace.told.append((stream.told_from, told_to + 1))
    return stream._replace(told_from=at, told_to=at)
