"""Who is slower than its gang now, what that costs, and how often a machine was slower before."""

from collections.abc import Iterable
from typing import NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.core.stragglers import cost_milli
from ledger.queries.seen import seen


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


class StraggledRun(NamedTuple):
    """One of a machine's last runs; what follows `times` is told of those that had a straggler on it, `times` of them.

    `lasted` is how long they lasted together within [since, until), all in ms; `still`: one goes on. `worker` was the
    slowest beside its gang; step times in ms, `behind` in steps.
    """

    machine: str
    run: str
    uid: str
    workspace: str
    times: int
    lasted: int
    since: int
    until: int
    still: bool
    worker: str
    step_ms: int
    gang_ms: int
    behind: int


class History(NamedTuple):
    """A machine straggled in `straggled` of its last `runs` runs."""

    runs: int
    straggled: int


def stragglers_now(scope: Scope, limit: int = 50, offset: int = 0, run: int = 0) -> tuple[StragglingWorker, ...]:
    """Return the stragglers of a scope, or of one run of it, the slowest first."""
    rows = sql.rows("stragglers_now", **seen(scope), run=run, of_run=run != 0, limit=limit, offset=offset)
    return tuple(StragglingWorker(*row) for row in rows)


def straggled_runs(scope: Scope, machines: Iterable[str], now: int) -> tuple[StraggledRun, ...]:
    """Return the last ten runs of each machine of these names, as far as they may be seen, the newest first."""
    rows = sql.rows("straggled_runs", **seen(scope), machines=sorted(set(machines)), now=now)
    return tuple(StraggledRun(*row) for row in rows)


def straggle_history(scope: Scope, machines: Iterable[str]) -> dict[str, History]:
    """Return by machine in how many of its last ten runs, as far as they may be seen, it had a straggler."""
    names = set(machines)
    found: dict[str, History] = {}
    for one in straggled_runs(scope, names, 0) if names else ():
        before = found.get(one.machine, History(0, 0))
        found[one.machine] = History(before.runs + 1, before.straggled + (one.times > 0))
    return found
