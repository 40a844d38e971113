"""Make the roll-ups of the days that are over and dirty: each day again as a whole, in one transaction."""

from functools import partial

from ledger import clock, sql
from ledger.clock import Clock

TABLES = ("dayrun", "daymachine", "daypool", "hourpool")
ROLLUP_SPACE = 0x60DB  # the first key of the advisory locks of roll-ups


def roll_up(cluster: int, now: int | None = None) -> int:
    """Make the roll-ups of every dirty day of the cluster, oldest first, and return how many days there were."""
    days = [day for (day,) in sql.rows("days_dirty", cluster=cluster)]
    for day in days:
        clock.post(cluster, now, partial(_roll_up_day, day=day))
    return len(days)


def _roll_up_day(at: Clock, day: int) -> None:
    """Doing it twice changes nothing; a change to the day's hours waits here, or this waits for it."""
    where = {"cluster": at.cluster, "day": day}
    sql.rows("rollup_alone", space=ROLLUP_SPACE, cluster=at.cluster)
    if not sql.run("day_clean", **where):
        return  # another made them meanwhile
    runs = {run for (run,) in sql.rows("dayrun_runs", **where)}
    for table in TABLES:
        sql.run(f"{table}_clear", **where)
        sql.run(f"{table}_make", **where)
    runs |= {run for (run,) in sql.rows("dayrun_runs", **where)}
    sql.run("runtotal_clear", runs=sorted(runs))
    sql.run("runtotal_make", runs=sorted(runs))
