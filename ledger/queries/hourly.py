"""Ledgers stretch by stretch of what filters leave, and what each hour held: what pictures are drawn from."""

from dataclasses import replace
from typing import Any, NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, HOUR, Window
from ledger.queries.goodput import ANY, Filters, goodput, ledger_of

_SHARED = ("", "unplaced", "unknown")  # no machine, and two that are too many cells' for an index


class Held(NamedTuple):
    """What was held, and of it productive, GPU-microseconds; no whole ledger, for there are a thousand hours."""

    held: int = 0
    productive: int = 0


class Stretch(NamedTuple):
    """The ledger of some hours from `start` on; `hours`: those of them in which anything was counted."""

    start: int
    ledger: Ledger
    hours: dict[int, Held]


def hourly(scope: Scope, window: Window, filters: Filters = ANY, size: int = HOUR) -> tuple[Stretch, ...]:
    """Return the stretches of `size` ms, from the window's start on, in which anything was counted, with their hours.

    A search thins nothing out.
    """
    found = _stretches(scope, window, filters, size, told="hours")
    return tuple(Stretch(at, of, dict(zip(hours[0], map(Held, *hours[1:]), strict=True))) for at, of, hours in found)


def sums(scope: Scope, window: Window, filters: Filters, size: int) -> tuple[Stretch, ...]:
    """Return the same without the hours: cheaper where each stretch is of whole days (UTC) or is the window."""
    is_of_days = window.start % DAY == 0 and size % DAY == 0
    told = "sums" if is_of_days or size >= window.end - window.start else "hours"
    return tuple(Stretch(at, of, {}) for at, of, _ in _stretches(scope, window, filters, size, told))


def total(scope: Scope, window: Window, filters: Filters = ANY) -> Ledger:
    """Return the ledger of a window without its rows, for what is only compared with; a search thins nothing out."""
    if _lookup(filters) in ("pool", "machine"):
        found = sums(scope, window, filters, window.end - window.start)
        return found[0].ledger if found else Ledger()
    return goodput(scope, window, filters=replace(filters, q=""), limit=1).total


def _stretches(
    scope: Scope, window: Window, filters: Filters, size: int, told: str
) -> list[tuple[int, Ledger, tuple[Any, ...]]]:
    """Return the start, the ledger, and the hours with what was held and productive in each."""
    names = {name: getattr(filters, name) for name in ("workspace", "run", "uid", "machine", "pool", "user")}
    rows = sql.rows(
        "goodput_hourly",
        **names,
        whole=scope.is_whole and not filters.workspace,
        on_machine=filters.machine != "",
        in_pool=filters.pool != "",
        workspaces=sorted(scope.workspaces),
        cluster=scope.cluster,
        cluster_name=filters.cluster,
        start=window.start,
        end=window.end,
        size=size,
        lookup=_lookup(filters),
        told=told,
    )
    return [(int(row[0]), ledger_of(row[1:-3]), row[-3:]) for row in rows]


def _lookup(filters: Filters) -> str:
    """Return by what the hours are looked up: the roll-up by pool where it has all that is asked."""
    if filters.machine not in _SHARED:
        return "machine"
    if filters.run or filters.uid:
        return "run"
    return "hours" if filters.machine or filters.user else "pool"
