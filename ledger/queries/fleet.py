"""Machines and pools: which a scope knows, what went wrong on them, how much there is of them and how much is held."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.core.windows import Window
from ledger.queries.losses import REASONS
from ledger.queries.seen import seen

NAMED = 12
TROUBLES = (Category.STALLED, Category.RESTART, Category.FAILURE, Category.PREEMPTION)


class Spot(NamedTuple):
    """A machine or a pool that may be seen; a machine's `pool` is the one it is in now."""

    kind: str
    id: int
    cluster: str
    pool: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Time [since, until), ms, that a run lost on a machine in one stretch; `still`: it goes on.

    `ledger` has what was lost while the machine was held, GPU-microseconds; `reasons` are as sources gave them.
    """

    since: int
    until: int
    still: bool
    machine: str
    pool: str
    run: str
    uid: str
    workspace: str
    workers: int
    reasons: tuple[str, ...]
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Troubles:
    """The costliest troubles, how many there are in all, and what they cost together, GPU-microseconds."""

    rows: tuple[Trouble, ...]
    count: int
    cost: int


class Failures(NamedTuple):
    """How many attempts failed on a machine, and how many stalled."""

    failed: int
    stalled: int


class Capacity(NamedTuple):
    """What there is of a machine or pool now, milli-GPUs: held + free + down = capacity + over.

    `down`: of machines that are not ready, and not held; `over`: held beyond the capacity that was told.
    `unready` and `unsized` count the machines that are not ready, and those of which no capacity was told; `named` are
    the first NAMED of those that are not ready.
    """

    name: str
    machines: int
    capacity: int
    held: int
    free: int
    down: int
    over: int
    unready: int
    unsized: int
    named: tuple[str, ...] = ()


class CapacityWeek(NamedTuple):
    """A week's capacity and what of it was not ready, GPU-microseconds; `start` in ms."""

    start: int
    capacity: int
    unready: int


def find_spots(scope: Scope, kind: str, name: str, *, whole: bool = False) -> tuple[Spot, ...]:
    """Return the machines or pools of that name that the scope's workspaces have held; `whole`: any of its cluster."""
    rows = sql.rows("places_find", **seen(scope), whole=whole, kind=kind, name=name)
    found = {Spot(*row[:-1]): row[-1] for row in rows}
    unsure = [spot.id for spot, is_held in found.items() if not is_held]
    if unsure:  # held in hours that are not rolled up, or never
        where = {"workspaces": sorted(scope.workspaces), "kind": kind}
        held = {pk for (pk,) in sql.rows("places_unrolled", **where, ids=unsure)}
        return tuple(spot for spot, is_held in found.items() if is_held or spot.id in held)
    return tuple(found)


def troubles(scope: Scope, window: Window, spots: Sequence[Spot], limit: int) -> Troubles:
    """Return what stalls, failures, preemptions and starts after them cost on spots, all of a kind; none: on any."""
    found = sql.rows(
        "troubles",
        workspaces=sorted(scope.workspaces),
        kind=spots[0].kind if spots else "",
        ids=[spot.id for spot in spots],
        start=window.start,
        end=window.end,
        limit=limit,
        reasons=list(REASONS),
    )
    rows = tuple(_trouble(row[2:11], row[11], row[12:]) for row in found)
    return Troubles(rows, found[0][0], int(found[0][1])) if found else Troubles((), 0, 0)


def _trouble(told: Sequence[Any], reasons: Sequence[str], amounts: Sequence[Any]) -> Trouble:
    lost = dict(zip(TROUBLES, (int(amount) for amount in amounts), strict=True))
    spread = tuple(lost.get(category, 0) for category in Category)
    since, until, still, machine, pool, run, uid, workspace, workers = told
    ledger = Ledger(spread, spread)
    return Trouble(since, until, still, machine, pool, run, uid, workspace, workers, tuple(reasons), ledger)


def failures(scope: Scope, window: Window, machines: Sequence[int]) -> dict[int, Failures]:
    """Return how many attempts failed and stalled on machines, both by their ids; one may be missing."""
    where = {"workspaces": sorted(scope.workspaces), "machines": list(machines)}
    rows = sql.rows("machine_failures", **where, start=window.start, end=window.end)
    return {machine: Failures(failed, stalled) for machine, failed, stalled in rows}


def capacity(
    cluster: int, by: str, *, machine: str = "", pool: str = "", names: Sequence[str] | None = None
) -> tuple[Capacity, ...]:
    """Return a cluster's capacity now, by pool or by machine; `names`: of these machines alone."""
    where = {"cluster": cluster, "by": by, "machine": machine, "pool": pool}
    rows = sql.rows("capacity_now", **where, names=None if names is None else list(names), named=NAMED)
    return tuple(Capacity(*row)._replace(named=tuple(row[-1])) for row in rows)


def capacity_weeks(cluster: int, window: Window, machine: str = "", pool: str = "") -> tuple[CapacityWeek, ...]:
    """Return a cluster's capacity week by week, the first one first, up to where it is counted."""
    where = {"cluster": cluster, "machine": machine, "pool": pool, "start": window.start, "end": window.end}
    return tuple(CapacityWeek(*row) for row in sql.rows("capacity_weeks", **where))
