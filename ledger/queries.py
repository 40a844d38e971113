"""Every number shown anywhere, as frozen values. Instants are UTC ms; one statement is one snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.core.windows import Window

GROUPINGS = ("workspace", "run", "machine", "pool", "user")
SORTS = (
    "name", "held", "productive", "goodput", "lost", "waiting",
    "idle", "stalled", "starting", "restart", "failure", "preemption",
)  # fmt: skip
_ROLLUPS = {"run": {"workspace", "run", "user"}, "pool": {"workspace", "pool"}, "machine": {"machine", "pool"}}
_NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True)
class Filters:
    """Exact names that rows must have, and a part of the row's name to search for; "" = any."""

    workspace: str = ""
    run: str = ""
    machine: str = ""
    pool: str = ""
    user: str = ""
    q: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A ledger of one workspace, run, machine, pool or user; `uid` and `workspace` only by run, `pool` by machine."""

    name: str
    uid: str
    workspace: str
    pool: str
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows asked for, and the total and number of all rows that match; `complete`: every hour is final."""

    window: Window
    by: str
    counted_until: int
    complete: bool
    revised_at: int | None
    rows: tuple[Row, ...]
    total: Ledger
    count: int
    readings_expected: bool


@dataclass(frozen=True, slots=True)
class Health:
    """Up to where every cluster is counted and when that was last looked at; None while there is no cluster."""

    counted_until: datetime | None
    last_categorized_at: datetime | None


class StalledWorker(NamedTuple):
    """A worker that holds GPUs and makes no progress since `since`; `step` is the last one it told."""

    workspace: str
    run: str
    uid: str
    worker: str
    machine: str
    pool: str
    since: int
    step: int | None
    gpus_milli: int


def goodput(
    scope: Scope,
    window: Window,
    by: str = "workspace",
    filters: Filters = Filters(),  # frozen
    sort: str = "-lost",
    limit: int | None = 100,
    offset: int = 0,
) -> Answer:
    """Return a ledger per row of the grouping, one page of them, and their total.

    Raises ValueError for a grouping or a sort that is none.
    """
    key = sort.removeprefix("-")
    if by not in GROUPINGS:
        raise ValueError(f"by must be one of {', '.join(GROUPINGS)}")
    if key not in SORTS:
        raise ValueError(f"sort must be one of {', '.join(SORTS)}, with - before it for the largest first")
    total, *rows = sql.rows(
        "goodput",
        **_within(scope, window),
        by=by,
        rollup=_rollup(by, filters),
        workspace=filters.workspace,
        run=filters.run,
        machine=filters.machine,
        pool=filters.pool,
        user=filters.user,
        q=filters.q,
        sort=key,
        descending=sort.startswith("-"),
        limit=_NO_LIMIT if limit is None else limit,
        offset=offset,
    )
    return Answer(
        window=window,
        by=by,
        count=total[5],
        counted_until=total[6],
        complete=bool(total[7]),
        revised_at=total[8],
        rows=tuple(Row(row[1], row[2], row[3], row[4], _ledger(row[9:])) for row in rows),
        total=_ledger(total[9:]),
        readings_expected=bool(sql.value("readings_expected", workspaces=sorted(scope.workspaces))),
    )


def _within(scope: Scope, window: Window) -> dict[str, Any]:
    return {"workspaces": sorted(scope.workspaces), "start": window.start, "end": window.end}


def _rollup(by: str, filters: Filters) -> str:
    """Return the smallest roll-up that knows the grouping and every filter; "" = none, the hours are read."""
    asked = {by} | {name for name in ("workspace", "run", "machine", "pool", "user") if getattr(filters, name)}
    order = ("pool", "run", "machine")
    return next((rollup for rollup in order if asked <= _ROLLUPS[rollup] | {"workspace"}), "")


def _ledger(amounts: Sequence[Any]) -> Ledger:
    """Return the ledger of a row's 8 amounts, its two second labels, and the 8 amounts held."""
    values = [int(amount) for amount in amounts]
    count = len(Category)
    return Ledger(tuple(values[:count]), tuple(values[count + 2 :]), values[count], values[count + 1])


def hourly(scope: Scope, window: Window) -> tuple[tuple[int, Ledger], ...]:
    """Return (hour, ledger) for each hour of the window in which anything was counted."""
    return tuple((row[0], _ledger(row[1:])) for row in sql.rows("goodput_hourly", **_within(scope, window)))


def stalled_now(scope: Scope, limit: int = 50) -> tuple[StalledWorker, ...]:
    """Return the workers that hold GPUs and are stalled, longest first."""
    rows = sql.rows("stalled_now", workspaces=sorted(scope.workspaces), stalled=int(Category.STALLED), limit=limit)
    return tuple(StalledWorker(*row) for row in rows)


def now() -> int:
    """Return the database's clock."""
    return int(sql.value("clock_now"))


def health() -> Health:
    """Return how far all clusters are counted."""
    return Health(*sql.rows("health")[0])


def first_hour(scope: Scope) -> int | None:
    """Return the first hour in which anything was counted, None when nothing was yet."""
    found = sql.value("first_hour", workspaces=sorted(scope.workspaces))
    return None if found is None else int(found)
