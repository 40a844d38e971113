"""Pruning: one edge moves, a UTC midnight, and what lies before it is removed; nothing younger changes.

The move is one short transaction: from then on nothing before the edge is taken, counted or compared. What stands
there is removed after it, whole months or at most `BATCH` rows a transaction, by any number of sessions, and again
from wherever one died. Of each worker its last state before the edge stays, with what is folded after it, and what
of its samples reaches over the edge: later evidence is counted upon those as if nothing had been removed.
"""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from django.db import OperationalError, models, transaction
from psycopg.errors import LockNotAvailable

from ledger import clock, hours, sql
from ledger.core.categories import OVER
from ledger.core.timeline import Folded
from ledger.core.windows import HOUR, floor_day, oldest_kept
from ledger.models import Machine, Run, Source
from ledger.rollups import ROLLUP_SPACE

BATCH = 5_000
WORKERS_AT_ONCE = 500
RUNS_AT_ONCE = 100
MOVE_MAX = 25 * HOUR
OF_CLUSTERS = (
    "eighthrun", "eighthmachine", "daymachine", "daypool", "hourpool", "weekmachine", "weekrun", "hours",
    "revisions", "refused", "words", "capacities", "readiness", "deliveries", "alerts",
)  # fmt: skip
OF_WORKERS = ("spans", "states", "gones", "flips", "stalls", "covered", "told", "pipeline", "straggles")

log = logging.getLogger(__name__)


class EdgeLeaps(Exception):
    """The edge would move further than a day: the clock jumped, or nobody pruned for long. Nothing was removed."""

    def __init__(self, by: int) -> None:
        super().__init__(
            f"the edge would move over {by / (24 * HOUR):.1f} days of what is kept, more than it moves in a day: "
            "is the database's clock right? If it is, run `manage.py prune --accept-clock` once"
        )


class Pruned(NamedTuple):
    """The edge (ms; None: nothing is old enough yet), and how many rows and whole months were removed."""

    edge: int | None
    rows: int
    months: int


def prune(cluster: int, *, accept_clock: bool = False, now: int | None = None) -> Pruned:
    """Move the edge of a cluster to where it belongs at `now` (ms; None: the database's clock), remove what is before.

    Raises EdgeLeaps when that is too far at once, unless the clock is accepted.
    """
    edge = move(cluster, accept_clock=accept_clock, now=now)
    if edge is None:
        _finish(cluster, None, now)
        return Pruned(None, 0, 0)
    months, whole = drop_months()
    rows = sweep(cluster, edge) if _is_left(cluster) else 0
    if whole:
        _finish(cluster, edge, now)
    return Pruned(edge, rows, months)


def move(cluster: int, *, accept_clock: bool = False, now: int | None = None) -> int | None:
    """Move the edge, alone with the cluster's clock, and return where it stands; None: nothing is kept before it."""
    at = clock.read(cluster, now)
    wanted = oldest_kept(at.now)
    if wanted <= at.kept_from:
        return at.kept_from
    by = _moved_over(cluster, at.kept_from, wanted)
    if by <= 0:
        return at.kept_from or None
    if by > MOVE_MAX and not accept_clock:
        raise EdgeLeaps(by)
    move_to(cluster, wanted)
    return wanted


def _moved_over(cluster: int, kept_from: int, wanted: int) -> int:
    """Return how much of what is kept the edge would move over, ms; where nothing is, it moves over nothing."""
    if wanted - kept_from <= MOVE_MAX:
        return wanted - kept_from
    first = sql.value("prune_first", cluster=cluster)
    return wanted - max(kept_from, floor_day(wanted if first is None else first))


def move_to(cluster: int, edge: int) -> None:
    """Move the edge to a UTC midnight (ms), never back, when nothing that posts is under way."""
    with transaction.atomic():
        sql.rows("clock_stop", space=hours.CLOCK_SPACE, cluster=cluster)
        sql.run("prune_move", cluster=cluster, edge=edge)


def _is_left(cluster: int) -> bool:
    edge, done = sql.rows("prune_state", cluster=cluster)[0]
    return bool(edge != done)


def _finish(cluster: int, edge: int | None, now: int | None) -> None:
    at = clock.read(cluster, now).now
    with transaction.atomic():
        sql.run("prune_done", cluster=cluster, edge=edge, now=at)


def prune_changes(before: int) -> int:
    """Remove what the audit log says of before an instant (ms) and return how many rows."""
    return _until_none(partial(_remove, "prune_changes", before=before, limit=BATCH))


def drop_months() -> tuple[int, bool]:
    """Drop the months that every cluster's edge has passed; return (how many, whether none had to wait)."""
    dropped, whole = 0, True
    for (partition,) in sql.rows("prune_partitions"):
        try:
            with transaction.atomic():
                ((_, is_gone),) = sql.rows("prune_partition", partition=partition)
                dropped += bool(is_gone)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            log.warning("%s is in use; the next hour drops it", partition)
            whole = False
    return dropped, whole


def sweep(cluster: int, edge: int) -> int:
    """Remove what stands before the edge and return how many rows; to be run again where it was cut off."""
    rows = _until_none(partial(_prune_days, cluster, edge))
    where: dict[str, Any] = {"cluster": cluster, "edge": edge, "limit": BATCH}
    for table in OF_CLUSTERS:
        rows += _until_none(partial(_remove, f"prune_{table}", **where))
    _prune_weeks(cluster, edge)
    where["stay"] = Folded._fields.index("stay_since")
    for workers in _pages(cluster):
        for table in OF_WORKERS:
            rows += _until_none(partial(_remove, f"prune_{table}", workers=workers, **where))
    return rows + _forget(cluster, edge)


def _until_none(remove: Callable[[], int]) -> int:
    """Remove batch by batch, until one is not full."""
    rows = 0
    while count := remove():
        rows += count
        if count < BATCH:
            break
    return rows


def _remove(statement: str, **where: Any) -> int:
    with transaction.atomic():
        return sql.run(statement, **where)


def _prune_days(cluster: int, edge: int) -> int:
    """The total of a run is that of its kept days, at any instant."""
    with transaction.atomic():
        sql.rows("clock_share", space=hours.CLOCK_SPACE, cluster=cluster)
        sql.rows("rollup_alone", space=ROLLUP_SPACE, cluster=cluster)
        removed = sql.rows("prune_dayrun", cluster=cluster, edge=edge, limit=BATCH)
        runs = sorted({run for (run,) in removed})
        sql.run("runtotal_clear", runs=runs)
        sql.run("runtotal_make", runs=runs)
    return len(removed)


def _prune_weeks(cluster: int, edge: int) -> None:
    """The week that the edge cuts is the sum of its kept days."""
    with transaction.atomic():
        sql.rows("rollup_alone", space=ROLLUP_SPACE, cluster=cluster)
        for statement in ("weekmachine_clear", "weekmachine_make", "weekrun_clear", "weekrun_make"):
            sql.run(statement, cluster=cluster, day=edge)


def _pages(cluster: int) -> Iterator[list[int]]:
    after = 0
    while page := _ids(sql.rows("prune_workers", cluster=cluster, after=after, limit=WORKERS_AT_ONCE)):
        yield page
        after = page[-1]


def _forget(cluster: int, edge: int) -> int:
    """Remove runs of which nothing is kept, with their workers; then machines and sources that nothing names."""
    gone = [int(phase) for phase in OVER]
    rows = _forgotten(cluster, Run, partial(sql.rows, "prune_runs", edge=edge, gone=gone))
    for model, statement, field in ((Machine, "prune_machines", "machine"), (Source, "prune_sources", "source")):
        place = Folded._fields.index(field)
        rows += _forgotten(cluster, model, partial(sql.rows, statement, edge=edge, place=place))
    return rows


def _forgotten(cluster: int, model: type[models.Model], find: Callable[..., Any]) -> int:
    """Delete what is found, looked at again under the stopped clock, so that nobody names it meanwhile."""
    rows = 0
    while found := _ids(find(cluster=cluster, only=None, limit=RUNS_AT_ONCE)):
        with transaction.atomic():
            sql.rows("clock_stop", space=hours.CLOCK_SPACE, cluster=cluster)
            still = _ids(find(cluster=cluster, only=found, limit=RUNS_AT_ONCE))
            rows += model._default_manager.filter(pk__in=still).delete()[0]
    return rows


def _ids(rows: list[tuple[int]]) -> list[int]:
    return [number for (number,) in rows]
