"""Make the roll-ups of what is dirty: days, the running one as far as it is rolled up, and hours of it."""

from functools import partial

from ledger import clock, sql
from ledger.clock import Clock
from ledger.core.windows import DAY, HOUR, rolled_to

TABLES = ("eighthrun", "eighthmachine", "dayrun", "daymachine", "daypool", "hourpool")
ROLLUP_SPACE = 0x60DB  # the first key of the advisory locks of roll-ups


def roll_up(cluster: int, now: int | None = None) -> int:
    """Make the roll-ups of every dirty day and hour of the cluster, oldest first; return how many days there were."""
    days = [day for (day,) in sql.rows("days_dirty", cluster=cluster)]
    for day in days:
        clock.post(cluster, now, partial(_roll_up_day, day=day))
    for (hour,) in sql.rows("hours_dirty", cluster=cluster):
        clock.post(cluster, now, partial(_roll_up_hour, hour=hour))
    return len(days)


def _roll_up_day(at: Clock, day: int) -> None:
    """Doing it twice changes nothing; a change to the day's hours waits here, or this waits for it."""
    where = {"cluster": at.cluster, "day": day, "start": day, "end": min(day + DAY, rolled_to(at.open_hour))}
    sql.rows("rollup_alone", space=ROLLUP_SPACE, cluster=at.cluster)
    if not sql.run("day_clean", **where):
        return  # another made them meanwhile
    sql.run("hours_clean", **where)
    runs = {run for (run,) in sql.rows("dayrun_runs", **where)}
    for table in (*TABLES, "weekmachine", "weekrun"):
        sql.run(f"{table}_clear", **where)
        sql.run(f"{table}_make", **where)
    runs |= {run for (run,) in sql.rows("dayrun_runs", **where)}
    sql.run("runtotal_clear", runs=sorted(runs))
    sql.run("runtotal_make", runs=sorted(runs))


def _roll_up_hour(at: Clock, hour: int) -> None:
    """An hour of the running day, by itself; the same holds."""
    where = {"cluster": at.cluster, "start": hour, "end": hour + HOUR}
    sql.rows("rollup_alone", space=ROLLUP_SPACE, cluster=at.cluster)
    if sql.run("hours_clean", **where):
        sql.run("hourpool_clear", **where)
        sql.run("hourpool_make", **where)
