"""Who is stalled now, a line a run: a hung gang is one thing that needs somebody, not thirty-two."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from ledger.queries import StalledWorker

LIMIT = 500
LINES_MAX = 5


@dataclass(frozen=True)
class StalledRun:
    """The stalled workers of a run; `since` is the longest stalled one's, `gpus_milli` what they hold together."""

    run: str
    uid: str
    workspace: str
    workers: tuple[StalledWorker, ...]

    @property
    def key(self) -> str:
        """The same over refreshes, and fit to be an id."""
        return sha256(f"{self.workspace}\0{self.uid}".encode()).hexdigest()[:12]

    @property
    def since(self) -> int:
        return min(worker.since for worker in self.workers)

    @property
    def gpus_milli(self) -> int:
        return sum(worker.gpus_milli for worker in self.workers)

    @property
    def first(self) -> StalledWorker:
        return min(self.workers, key=lambda worker: worker.since)

    @property
    def machines(self) -> int:
        return len({worker.machine for worker in self.workers})


@dataclass(frozen=True)
class Stalled:
    """All that is stalled now. `more`: there are yet more than could be listed."""

    runs: tuple[StalledRun, ...]
    workers: int
    gpus_milli: int
    more: bool

    @property
    def shown(self) -> tuple[StalledRun, ...]:
        return self.runs[:LINES_MAX]

    @property
    def rest(self) -> tuple[StalledRun, ...]:
        return self.runs[LINES_MAX:]


def stalled(workers: Iterable[StalledWorker]) -> Stalled:
    """Gather stalled workers by their run; the run that wastes most comes first."""
    by_run: dict[tuple[str, str], list[StalledWorker]] = {}
    found = list(workers)
    for worker in found:
        by_run.setdefault((worker.workspace, worker.uid), []).append(worker)
    runs = [StalledRun(those[0].run, uid, workspace, tuple(those)) for (workspace, uid), those in by_run.items()]
    runs.sort(key=lambda run: (-run.gpus_milli, run.since, run.run, run.uid))
    return Stalled(tuple(runs), len(found), sum(worker.gpus_milli for worker in found), len(found) >= LIMIT)
