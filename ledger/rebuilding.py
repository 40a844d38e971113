"""Make a cluster's spans, cells and roll-ups again from its evidence, a page of runs at a time, beside what goes on."""

from collections.abc import Iterator
from functools import partial

from ledger import clock, sql
from ledger.checks import BEGINNING, pages
from ledger.clock import Clock
from ledger.recount import recount
from ledger.rollups import roll_up


def rebuild(cluster: int, now: int | None = None) -> Iterator[int]:
    """Repair the whole ledger of a cluster; yield how many runs are done. It can be stopped and begun again."""
    done = 0
    for runs in pages(cluster):
        clock.post(cluster, now, partial(_rebuild_runs, runs=runs))
        done += len(runs)
        yield done
    clock.post(cluster, now, _spoil_rollups)
    roll_up(cluster, now)


def _rebuild_runs(at: Clock, runs: list[int]) -> None:
    workers = {worker: BEGINNING for _, worker in sql.rows("recount_gangs", runs=runs)}
    recount(at, workers, cells=False)
    for kind in ("hours", "open"):
        sql.run(f"rebuild_{kind}_clear", cluster=at.cluster, runs=runs)
        sql.run(f"rebuild_{kind}", cluster=at.cluster, runs=runs)


def _spoil_rollups(at: Clock) -> None:
    sql.run("rebuild_totals_clear", cluster=at.cluster)
    sql.run("rebuild_days", cluster=at.cluster)
    sql.run("rebuild_today", cluster=at.cluster)
