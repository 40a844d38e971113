"""Close the hours of a cluster that are over: each in one transaction of its own, under the stopped clock."""

from django.db import transaction

from ledger import sql, walltime
from ledger.core.windows import HOUR, floor_day, rolled_to

CLOCK_SPACE = 0x60D9  # the first key of the advisory locks that are clusters' clocks


def close_over(cluster: int, now: int | None = None) -> int:
    """Close every hour of the cluster that is over at `now` (ms; None: the database's clock) and return how many."""
    closed = 0
    while is_over(cluster, now):
        closed += _close_one(cluster, now)
    return closed


def is_over(cluster: int, now: int | None) -> bool:
    ((open_hour, clock, counted),) = sql.rows("open_hour", cluster=cluster)
    return bool(walltime.now(clock, counted, now) >= open_hour + HOUR)


def _close_one(cluster: int, now: int | None) -> int:
    """Close the open hour, unless another did so while this waited for the clock."""
    with transaction.atomic():
        sql.rows("clock_stop", space=CLOCK_SPACE, cluster=cluster)
        if not is_over(cluster, now):
            return 0
        hour = int(sql.rows("open_hour", cluster=cluster)[0][0])
        sql.value("partitions", lower=hour, upper=hour)
        sql.run("hour_close", cluster=cluster, hour=hour)
        sql.run("hour_drop_idle", cluster=cluster)
        sql.run("hour_begin", cluster=cluster)
        sql.run("hour_advance", cluster=cluster, hour=hour, next=hour + HOUR)
        sql.run("hour_dirty", cluster=cluster, hours=[hour])
        if rolled_to(hour + HOUR) != rolled_to(hour):
            sql.run("day_dirty", cluster=cluster, days=[floor_day(hour)])
        return 1
