"""Runs: which there are, one of them with its workers and its ledger."""

import json
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.batches import Condition
from ledger.core.categories import Category, Phase
from ledger.core.windows import HOUR, MAX_DAYS, Window, floor_hour
from ledger.decode.again import conditions_of
from ledger.queries.goodput import ANY, Answer, Filters, goodput
from ledger.queries.now import now

_PHASES, _CATEGORIES = {int(phase): phase for phase in Phase}, {int(category): category for category in Category}


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run's labels and what it holds and waits for now; instants in ms, None where the source did not say.

    `verdict` on its least goodput, when it is over and all of its hours are final: pass, fail, no data; "" before.
    """

    name: str
    uid: str
    workspace: str
    kind: str
    user: str
    cluster: str
    submitted_at: int | None
    ended_at: int | None
    outcome: str
    min_goodput_milli: int | None
    held_milli: int
    waiting_milli: int
    stalled: bool
    going: bool
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Runs:
    """One page of runs, and how many there are in all."""

    rows: tuple[RunRow, ...]
    count: int


class RunWorker(NamedTuple):
    """A worker now: `category` and `since` are None when it is over; `step` the last it told."""

    name: str
    phase: Phase
    category: Category | None
    since: int | None
    gpus_milli: int
    machine: str
    pool: str
    attempt: int
    step: int | None
    step_at: int | None


def runs(scope: Scope, filters: Filters = ANY, going: bool | None = None, limit: int = 100, offset: int = 0) -> Runs:
    """Return the runs that match, those that go on first, then the newest; `going` None: both kinds."""
    found = sql.rows(
        "runs",
        workspaces=sorted(scope.workspaces),
        cluster=scope.cluster,
        workspace=filters.workspace,
        user=filters.user,
        run=filters.run,
        uid=filters.uid,
        q=filters.q,
        going=going,
        limit=limit,
        offset=offset,
    )
    return Runs(tuple(RunRow(*row[2:]) for row in found), found[0][0] if found else 0)


class RunKey(NamedTuple):
    """A run that may be seen."""

    id: int
    uid: str
    cluster: int


def find_run(scope: Scope, name: str) -> RunKey | None:
    """Return the run of that uid, else the newest of that name; None when there is none that may be seen."""
    found = sql.rows("run_find", workspaces=sorted(scope.workspaces), run=name)
    return RunKey(*found[0]) if found else None


def run_row(scope: Scope, run: RunKey) -> RunRow:
    """Return a run's labels."""
    return runs(replace(scope, cluster=run.cluster), Filters(uid=run.uid), limit=1).rows[0]


def run_conditions(run: RunKey) -> tuple[Condition, ...]:
    """Return what the run's source says of it, in the source's order."""
    return conditions_of(json.loads(sql.value("run_conditions", run=run.id)))


def run_workers(run: RunKey) -> tuple[RunWorker, ...]:
    """Return the workers of a run as they are now."""
    return tuple(_worker(*row) for row in sql.rows("run_workers", run=run.id))


def _worker(name: str, phase: int, category: int, *rest: Any) -> RunWorker:
    return RunWorker(name, _PHASES[phase], _CATEGORIES.get(category), *rest)


def run_window(run: RunKey) -> Window:
    """Return the kept hours since the run's first one, the running hour included."""
    end = floor_hour(now()) + HOUR
    begin = sql.value("run_begin", run=run.id)
    start = end - HOUR if begin is None else floor_hour(begin)
    return Window(max(min(start, end - HOUR), end - MAX_DAYS * 24 * HOUR), end)


def run_end(run: RunKey) -> int | None:
    """Return when the last that was counted of a run ended; None while it goes on, and for a run without time."""
    found = sql.value("run_end", run=run.id)
    return None if found is None else int(found)


def run_goodput(scope: Scope, run: RunKey, window: Window | None = None) -> Answer:
    """Return the ledger of one run, as the only row and the total; without a window since it was submitted."""
    return goodput(replace(scope, cluster=run.cluster), window or run_window(run), "run", Filters(run_ids=(run.id,)))
