"""Ledgers hour by hour, or day by day, of what filters leave: what pictures of a window are drawn from."""

from dataclasses import replace

from ledger import sql
from ledger.access import Scope
from ledger.core.totals import Ledger, together
from ledger.core.windows import Window
from ledger.queries.goodput import ANY, Filters, goodput, ledger_of

_SHARED = ("", "unplaced", "unknown")  # no machine, and two that are too many cells' for an index


def hourly(
    scope: Scope, window: Window, filters: Filters = ANY, *, days: bool = False
) -> tuple[tuple[int, Ledger], ...]:
    """Return (hour, ledger) for each hour of the window in which anything was counted; a search thins nothing out.

    `days`: a whole day (UTC) may be told as one, as its first hour.
    """
    lookup = _lookup(filters)
    names = {name: getattr(filters, name) for name in ("workspace", "run", "uid", "machine", "pool", "user")}
    rows = sql.rows(
        "goodput_hourly",
        **names,
        workspaces=sorted(scope.workspaces),
        cluster=scope.cluster,
        cluster_name=filters.cluster,
        start=window.start,
        end=window.end,
        lookup=lookup,
        told="days" if days and lookup == "pool" else "hours",
    )
    return tuple((row[0], ledger_of(row[1:])) for row in rows)


def total(scope: Scope, window: Window, filters: Filters = ANY) -> Ledger:
    """Return the ledger of a window without its rows, for what is only compared with; a search thins nothing out."""
    if _lookup(filters) in ("pool", "machine"):
        return together([ledger for _, ledger in hourly(scope, window, filters, days=True)])
    return goodput(scope, window, filters=replace(filters, q=""), limit=1).total


def _lookup(filters: Filters) -> str:
    """Return by what the hours are looked up: the roll-up by pool where it has all that is asked."""
    if filters.machine not in _SHARED:
        return "machine"
    if filters.run or filters.uid:
        return "run"
    return "hours" if filters.machine or filters.user else "pool"
