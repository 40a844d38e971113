"""What the input pipelines of a run took, worker by worker, and how its training goes."""

from typing import NamedTuple

from ledger import sql
from ledger.core.streams import Doing
from ledger.core.windows import HOUR
from ledger.queries.runs import RunKey, run_window


class WorkerPipeline(NamedTuple):
    """A worker's pipeline in some hours, in microseconds, and its training now; None for what it never told."""

    name: str
    batches: int
    wall_us: int
    source_us: int
    transform_us: int
    transfer_us: int
    at: int | None
    step: int | None
    step_at: int | None
    step_ms: int | None
    doing: Doing
    recent: tuple[int, ...]

    @property
    def productive_us(self) -> int:
        return self.source_us + self.transform_us + self.transfer_us

    @property
    def overhead_us(self) -> int:
        """Return wall less productive: below 0 where stages overlap."""
        return self.wall_us - self.productive_us

    @property
    def batch_us(self) -> int:
        """Return how long a batch took, 0 when there was none."""
        return self.wall_us // self.batches if self.batches else 0

    @property
    def median_ms(self) -> int | None:
        """Return the median of its last step times, None when it told none."""
        return sorted(self.recent)[len(self.recent) // 2] if self.recent else None


def pipeline(run: RunKey, start: int, end: int) -> tuple[WorkerPipeline, ...]:
    """Return the workers of a run that told something, the slowest first: by a batch, then by a step, then by name.

    Hours that begin in [start, end), ms.
    """
    rows = sql.rows("pipeline_of_run", run=run.id, start=start, end=end)
    found = [WorkerPipeline._make((*row[:-2], Doing(row[-2]), tuple(row[-1]))) for row in rows]
    return tuple(sorted(found, key=lambda one: (-one.batch_us, -(one.median_ms or 0), one.name)))


def pipeline_window(run: RunKey) -> tuple[int, int]:
    """Return the hours of a run, [start, end) in ms: those of its ledger, and others in which its pipelines told."""
    window = run_window(run)
    first, last = sql.rows("pipeline_reach", run=run.id)[0]
    if first is None:
        return window.start, window.end
    return min(window.start, first), max(window.end, last + HOUR)
