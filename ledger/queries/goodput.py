"""Ledgers by a grouping, for a window or by week."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ledger import sql
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.core.windows import WEEK, Window, floor_week
from ledger.queries.costs import Costs, costs

GROUPINGS = ("workspace", "run", "machine", "pool", "user")
SORTS = (
    "name", "held", "productive", "goodput", "lost", "waiting",
    "idle", "stalled", "starting", "restart", "failure", "preemption",
)  # fmt: skip
_ROLLUPS = {"run": {"workspace", "run", "user", "pool"}, "pool": {"workspace", "pool"}, "machine": {"machine", "pool"}}
_NO_LIMIT = 1 << 40
_LONG = 16 * WEEK  # from here on it is cheaper to read all runs than to look up those that have hours


@dataclass(frozen=True, slots=True)
class Filters:
    """Exact names that rows must have (`run`: a name or a uid), and a part of the name to search for; "" = any.

    `run_ids` are runs that were found before; None = any.
    """

    workspace: str = ""
    run: str = ""
    machine: str = ""
    pool: str = ""
    user: str = ""
    cluster: str = ""
    uid: str = ""
    q: str = ""
    run_ids: tuple[int, ...] | None = None


ANY = Filters()


@dataclass(frozen=True, slots=True)
class Row:
    """A ledger of one workspace, run, machine, pool or user; `uid` and `workspace` only by run, `pool` by machine.

    `cluster` by machine and pool, "" for those of none; `pk` tells rows of one name apart; by user it is 0.
    """

    name: str
    uid: str
    workspace: str
    pool: str
    ledger: Ledger
    pk: int = 0
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows asked for, and the total and number of all rows that match; `complete`: every hour is final.

    `clusters`: how many the organization has. `costs` is None where no price is set, or prices are in
    several currencies.
    """

    window: Window
    by: str
    counted_until: int
    complete: bool
    revised_at: int | None
    rows: tuple[Row, ...]
    total: Ledger
    count: int
    readings_expected: bool
    costs: Costs | None = None
    clusters: int = 1


@dataclass(frozen=True, slots=True)
class Week:
    """An ISO week of an answer: its hours [start, end), whether it still goes on, one page of rows, its total."""

    start: int
    end: int
    partial: bool
    rows: tuple[Row, ...]
    total: Ledger
    count: int


@dataclass(frozen=True, slots=True)
class Weeks:
    """The weeks asked for, first to last, each with its rows, and the total of them all."""

    window: Window
    by: str
    counted_until: int
    complete: bool
    revised_at: int | None
    weeks: tuple[Week, ...]
    total: Ledger
    readings_expected: bool
    costs: Costs | None = None
    clusters: int = 1


def goodput(
    scope: Scope,
    window: Window,
    by: str = "workspace",
    filters: Filters = ANY,
    sort: str = "-lost",
    limit: int | None = 100,
    offset: int = 0,
) -> Answer:
    """Return a ledger per row of the grouping, one page of them, and their total.

    Raises ValueError for a grouping or a sort that is none.
    """
    found = _ask(scope, window, by, filters, sort, limit, offset, weekly=False)
    return Answer(
        window=window,
        by=by,
        rows=tuple(found.rows[window.start]),
        total=found.totals.get(window.start, Ledger()),
        count=found.counts.get(window.start, 0),
        **_envelope(found),
    )


def weekly(
    scope: Scope,
    window: Window,
    by: str = "workspace",
    filters: Filters = ANY,
    sort: str = "-lost",
    limit: int | None = 100,
) -> Weeks:
    """Return the same per ISO week of the window, `limit` rows in each. Raises ValueError as `goodput` does."""
    found = _ask(scope, window, by, filters, sort, limit, 0, weekly=True)
    starts = range(floor_week(window.start), window.end, WEEK)
    weeks = tuple(_week(start, window, found) for start in starts)
    total = sum((week.total for week in weeks), Ledger())
    return Weeks(window=window, by=by, weeks=weeks, total=total, **_envelope(found))


def _week(start: int, window: Window, found: "_Found") -> Week:
    end = min(start + WEEK, window.end)
    return Week(
        start=max(start, window.start),
        end=end,
        partial=end > found.counted_until,
        rows=tuple(found.rows[start]),
        total=found.totals.get(start, Ledger()),
        count=found.counts.get(start, 0),
    )


@dataclass(slots=True)
class _Found:
    """What the statement said, by the first hour of each bucket."""

    counted_until: int = 0
    complete: bool = False
    revised_at: int | None = None
    readings_expected: bool = True
    clusters: int = 1
    currency: str = ""
    costs: Costs | None = None
    rows: dict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    totals: dict[int, Ledger] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)


def _ask(
    scope: Scope, window: Window, by: str, filters: Filters, sort: str, limit: int | None, offset: int, *, weekly: bool
) -> _Found:
    key = sort.removeprefix("-")
    if by not in GROUPINGS:
        raise ValueError(f"by must be one of {', '.join(GROUPINGS)}")
    if key not in SORTS:
        raise ValueError(f"sort must be one of {', '.join(SORTS)}, with - before it for the largest first")
    found = _Found()
    where = _where(scope, window, filters)
    rollup = _rollup(_asked(by, filters), of_runs=bool(filters.user) or where["runs"] is not None)
    for kind, bucket, rank, *rest in sql.rows(
        "goodput",
        **where,
        weekly=weekly,
        by=by,
        rollup=rollup,
        lookup=_lookup(scope, window, by, rollup, where),
        search="on" if filters.q else "off",
        sort=key,
        descending=sort.startswith("-"),
        limit=_NO_LIMIT if limit is None else limit,
        offset=offset,
    ):
        match kind:
            case "envelope":
                found.counted_until, found.complete = int(rest[5]), bool(rest[6])
                found.revised_at = None if rest[7] is None else int(rest[7])
                found.readings_expected, found.currency, found.clusters = bool(rest[8]), rest[0], int(rest[9])
            case "total":
                found.totals[bucket], found.counts[bucket] = ledger_of(rest[5:-1]), rank
            case "row":
                name, uid, workspace, pool, cluster = rest[:5]
                found.rows[bucket].append(Row(name, uid, workspace, pool, ledger_of(rest[5:-1]), rest[-1], cluster))
    if found.currency:
        rows = [(row.pk, row.name) for shown in found.rows.values() for row in shown]
        where |= {"until": found.counted_until}
        found.costs = costs(found.currency, by, _asked(by, filters), rows, weekly=weekly, **where)
    return found


def _envelope(found: _Found) -> dict[str, Any]:
    return {
        "counted_until": found.counted_until,
        "complete": found.complete,
        "revised_at": found.revised_at,
        "readings_expected": found.readings_expected,
        "clusters": found.clusters,
        "costs": found.costs,
    }


def _where(scope: Scope, window: Window, filters: Filters) -> dict[str, Any]:
    """Return what every statement about a window takes; None or "" = any."""
    clusters = [scope.cluster] if scope.cluster else None
    where = {"seen": sorted(scope.workspaces), "clusters": clusters, "user": filters.user, "q": filters.q}
    return where | _within(scope, window) | _picked(scope, filters)


def _within(scope: Scope, window: Window) -> dict[str, Any]:
    return {"workspaces": sorted(scope.workspaces), "start": window.start, "end": window.end}


def _picked(scope: Scope, filters: Filters) -> dict[str, list[int] | None]:
    """Return the ids of what the filters name; None where one names nothing. With ids the statement uses indexes."""
    names = {name: getattr(filters, name) for name in ("workspace", "run", "uid", "machine", "pool", "cluster")}
    if not any(names.values()):
        return {"runs": None if filters.run_ids is None else list(filters.run_ids), "machines": None, "pools": None}
    ((workspaces, runs, machines, pools, clusters),) = sql.rows(
        "filters_find", **names, workspaces=sorted(scope.workspaces)
    )
    found: dict[str, list[int] | None] = {
        "runs": runs if filters.run or filters.uid else None,
        "machines": machines if filters.machine else None,
        "pools": pools if filters.pool else None,
    }
    if filters.workspace:
        found["workspaces"] = workspaces
    if filters.cluster:
        found |= _clusters(scope, clusters)
    return found


def _clusters(scope: Scope, named: list[int]) -> dict[str, list[int] | None]:
    """Return the clusters of a name that a scope has, one in each organization; of none it is nobody's time."""
    found = [cluster for cluster in named if scope.cluster in (0, cluster)]
    return {"clusters": found} if found else {"workspaces": []}


def _asked(by: str, filters: Filters) -> set[str]:
    """Return what has to be known of a cell: the grouping, and what the filters name."""
    asked = {by} | {name for name in ("workspace", "run", "machine", "pool", "user") if getattr(filters, name)}
    return asked | ({"run"} if filters.uid or filters.run_ids is not None else set())


def _rollup(asked: set[str], *, of_runs: bool) -> str:
    """Return the smallest roll-up that knows all that is asked; none: "hours" are read, "runs" = those of some runs."""
    order = ("pool", "run", "machine")
    read = "runs" if of_runs else "hours"
    return next((rollup for rollup in order if asked <= _ROLLUPS[rollup] | {"workspace"}), read)


def _lookup(scope: Scope, window: Window, by: str, rollup: str, where: Mapping[str, Any]) -> str:
    """Return how it is found whose a run is: not at all where all may be seen and nothing more is asked of them."""
    all_is_asked = where["workspaces"] == where["seen"] and not where["user"]
    if scope.is_whole and all_is_asked and by in ("run", "machine", "pool"):
        return "cells" if rollup in ("machine", "pool") else "none"
    if window.end - window.start >= _LONG and rollup in ("run", "hours"):
        return "whole"
    is_narrowed = any(where[name] is not None for name in ("runs", "machines", "pools"))
    return "each" if scope.is_whole or is_narrowed or rollup == "pool" else "mine"


def ledger_of(amounts: Sequence[Any]) -> Ledger:
    """Return the ledger of a row's 8 amounts, its two second labels, and the 8 amounts held."""
    values = [int(amount) for amount in amounts]
    count = len(Category)
    return Ledger(tuple(values[:count]), tuple(values[count + 2 :]), values[count], values[count + 1])
