"""Times the stages of an input pipeline, batch by batch: source, transform, transfer, and what is left as overhead."""

from __future__ import annotations

from collections import deque
from time import perf_counter_ns
from typing import NamedTuple

KEPT_BATCHES = 1_000
_NS = 1_000_000_000


class GoodputMetrics(NamedTuple):
    """All batches that ended, in seconds; `goodput_ratio` is None before any time has passed in one.

    productive = source + transform + transfer, overhead = wall - productive. Stages that run at the same time, as with
    a loader that reads ahead, add up to more than the wall clock: then the ratio is above 1, the overhead below 0
    and `overlap_sec` says by how much.
    """

    total_batches: int
    wall_clock_sec: float
    source_sec: float
    transform_sec: float
    transfer_sec: float
    productive_sec: float
    overhead_sec: float
    goodput_ratio: float | None

    @property
    def overlap_sec(self) -> float:
        """Return by how much the stages are longer than the wall clock, 0 when they are not."""
        return max(0.0, -self.overhead_sec)


class Totals(NamedTuple):
    """Sums over all batches that ended, in whole nanoseconds."""

    batches: int = 0
    wall: int = 0
    source: int = 0
    transform: int = 0
    transfer: int = 0


class Stage:
    """The time of one stage in the batch that is open; below 0 while it goes on, by the clock when it began."""

    __slots__ = ("ns",)

    def __init__(self) -> None:
        self.ns = 0

    def __enter__(self) -> None:
        self.ns -= perf_counter_ns()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Time is kept when the body raises, and the exception goes on."""
        self.ns += perf_counter_ns()

    def add(self, duration_sec: float) -> None:
        """Add time that was measured elsewhere. Raises ValueError when it is negative or no number."""
        if not 0 <= duration_sec < 1e9:  # also false for NaN
            raise ValueError(f"a duration is a number of seconds from 0 on, not {duration_sec!r}")
        self.ns += round(duration_sec * _NS)

    def cut(self) -> int:
        """Return the time up to now; a body that goes on goes on in the next batch."""
        now = perf_counter_ns()
        spent = self.ns + now if self.ns < 0 else self.ns
        self.ns = -now if self.ns < 0 else 0
        return spent


class GoodputTracker:
    """Times the batches of one producing thread; any thread may ask for the summary.

    Totals are exact, of whole nanoseconds of a monotonic clock. `per_batch_…` keep the last `kept` batches, in seconds.
    A fork takes the totals along and goes on by itself.
    """

    def __init__(self, kept: int = KEPT_BATCHES) -> None:
        if kept < 0:
            raise ValueError("kept is a number of batches from 0 on")
        self._source, self._transform, self._transfer = self._stages = (Stage(), Stage(), Stage())
        self._began: int | None = None
        self._totals: tuple[int, int, int, int, int] = Totals()
        self._batches: deque[tuple[int, int, int, int]] = deque(maxlen=kept)

    def start_batch(self) -> None:
        """Begin a batch; one that is open is given up, and its time with it, but not what was recorded before it."""
        if self._began is not None:
            self._clear()
        self._began = perf_counter_ns()

    def time_source(self) -> Stage:
        """Return a context manager that times reading from storage."""
        return self._source

    def time_transform(self) -> Stage:
        """Return a context manager that times decoding and augmentation."""
        return self._transform

    def time_transfer(self) -> Stage:
        """Return a context manager that times the copy to the device."""
        return self._transfer

    def record_source(self, duration_sec: float) -> None:
        """Add source time measured elsewhere. Raises ValueError when it is negative or no number."""
        self._source.add(duration_sec)

    def record_transform(self, duration_sec: float) -> None:
        """Add transform time measured elsewhere. Raises ValueError when it is negative or no number."""
        self._transform.add(duration_sec)

    def record_transfer(self, duration_sec: float) -> None:
        """Add transfer time measured elsewhere. Raises ValueError when it is negative or no number."""
        self._transfer.add(duration_sec)

    def end_batch(self) -> None:
        """End the batch and add it to the totals. Raises RuntimeError when none was begun."""
        began = self._began
        if began is None:
            raise RuntimeError("end_batch() without start_batch(): there is no batch to end")
        wall = perf_counter_ns() - began
        a, b, c = self._stages
        if a.ns < 0 or b.ns < 0 or c.ns < 0:
            source, transform, transfer = a.cut(), b.cut(), c.cut()
        else:
            source, transform, transfer = a.ns, b.ns, c.ns
            a.ns = b.ns = c.ns = 0
        batches, walls, sources, transforms, transfers = self._totals
        self._began = None
        self._batches.append((source, transform, transfer, wall))
        self._totals = (batches + 1, walls + wall, sources + source, transforms + transform, transfers + transfer)

    def reset(self) -> None:
        """Forget all batches, the open one too."""
        self._clear()
        self._began = None
        self._batches.clear()
        self._totals = Totals()

    def totals(self) -> Totals:
        """Return the sums of this instant, which belong together whoever asks."""
        return Totals(*self._totals)

    def summary(self) -> GoodputMetrics:
        """Return what all batches that ended add up to."""
        return metrics_of(self.totals())

    @property
    def per_batch_source(self) -> list[float]:
        """Return the source time of the last batches, in seconds, oldest first."""
        return self._column(0)

    @property
    def per_batch_transform(self) -> list[float]:
        """Return the transform time of the last batches, in seconds, oldest first."""
        return self._column(1)

    @property
    def per_batch_transfer(self) -> list[float]:
        """Return the transfer time of the last batches, in seconds, oldest first."""
        return self._column(2)

    @property
    def per_batch_wall(self) -> list[float]:
        """Return the wall-clock time of the last batches, in seconds, oldest first."""
        return self._column(3)

    def _column(self, place: int) -> list[float]:
        return [batch[place] / _NS for batch in self._batches.copy()]

    def _clear(self) -> None:
        for stage in self._stages:
            stage.cut()


def metrics_of(totals: Totals) -> GoodputMetrics:
    """Return totals in seconds, each figure rounded by itself from whole nanoseconds."""
    batches, wall, source, transform, transfer = totals
    productive = source + transform + transfer
    return GoodputMetrics(
        total_batches=batches,
        wall_clock_sec=wall / _NS,
        source_sec=source / _NS,
        transform_sec=transform / _NS,
        transfer_sec=transfer / _NS,
        productive_sec=productive / _NS,
        overhead_sec=(wall - productive) / _NS,
        goodput_ratio=productive / wall if wall else None,
    )
