"""Who is slower than its gang now, what that costs, and how often a machine was slower before."""

from collections.abc import Iterable
from typing import NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.core.stragglers import cost_milli


class StragglingWorker(NamedTuple):
    """A worker that is slower than its gang, or behind it, since `since`; step times in ms, `behind` in steps."""

    workspace: str
    run: str
    uid: str
    worker: str
    machine: str
    pool: str
    since: int
    step: int | None
    gpus_milli: int
    step_ms: int
    gang_ms: int
    behind: int
    gang_milli: int

    @property
    def slower_milli(self) -> int:
        """Return its step time in thousandths of its gang's."""
        return self.step_ms * 1000 // max(self.gang_ms, 1)

    @property
    def cost_milli(self) -> int:
        """Return how many milli-GPUs of its gang wait for it, if the gang waits at each step."""
        return cost_milli(self.gang_milli, self.step_ms, self.gang_ms)


class History(NamedTuple):
    """A machine straggled in `straggled` of its last `runs` runs."""

    runs: int
    straggled: int


def stragglers_now(scope: Scope, limit: int = 50, offset: int = 0, run: int = 0) -> tuple[StragglingWorker, ...]:
    """Return the stragglers of a scope, or of one run of it, the slowest first."""
    where = {"workspaces": sorted(scope.workspaces), "cluster": scope.cluster, "run": run}
    rows = sql.rows("stragglers_now", **where, limit=limit, offset=offset)
    return tuple(StragglingWorker(*row) for row in rows)


def straggle_history(scope: Scope, machines: Iterable[str]) -> dict[str, History]:
    """Return by machine in how many of its last ten runs, as far as they may be seen, it had a straggler."""
    names = sorted(set(machines))
    if not names:
        return {}
    rows = sql.rows("straggle_history", workspaces=sorted(scope.workspaces), machines=names)
    return {name: History(runs, straggled) for name, runs, straggled in rows}
