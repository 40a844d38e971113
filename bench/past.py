"""400 days of a cluster, made by SQL: closed hours as they would have been written, then the product's own roll-ups."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from bench import ground
from ledger import sql
from ledger.core.windows import floor_hour
from ledger.models import Cluster, Organization, Source
from ledger.rollups import roll_up

DAYS_AT_ONCE = 10
LEDGERS = (
    "hour", "eighthrun", "eighthmachine", "dayrun", "daymachine", "daypool", "hourpool", "weekmachine",
    "weekrun", "runtotal", "run", "worker", "span", "opencell",
)  # fmt: skip


@dataclass(frozen=True)
class Past:
    """A cluster with `cells` closed cells in `days` days; `open_hour`, ms, is the running one."""

    cluster: Cluster
    cells: int
    days: int
    open_hour: int


def make(machines: int, days: int) -> Past:
    """Make the past of `machines` machines, and the hour that runs."""
    now = int(sql.value("clock_now"))
    open_hour = moment(floor_hour(now))
    first = (open_hour - timedelta(days=days)).replace(hour=0)
    organization = Organization.objects.create(name="bench")
    cluster = Cluster.objects.create(
        organization=organization, name="east", open_hour=open_hour, first_hour=first, final_to=open_hour,
        checked_to=moment(now), categorized_at=moment(now), counted_until=moment(now),
    )  # fmt: skip
    source = Source.objects.create(cluster=cluster, name="bench", word_at=moment(now))
    ground.run("past_names", organization=organization.pk, cluster=cluster.pk, machines=machines)
    hours = int((open_hour - first) / timedelta(hours=1))
    sql.value("partitions", lower=int(first.timestamp()) * 1000, upper=now)
    ground.run("past_runs", cluster=cluster.pk, machines=machines, hours=hours, first=first)
    cells, lower = 0, first
    while lower < open_hour:
        upper = min(lower + timedelta(days=DAYS_AT_ONCE), open_hour)
        cells += ground.run("past_hours", cluster=cluster.pk, lower=lower, upper=upper)
        lower = upper
    ground.run("past_open", cluster=cluster.pk, hour=open_hour, source=source.pk)
    sum_up(cluster)
    return Past(cluster, cells, days, floor_hour(now))


def sum_up(cluster: Cluster) -> None:
    """Make every roll-up as the categorizer does, then do what autovacuum does in time."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE ledger_hour")
    sql.run("rebuild_days", cluster=cluster.pk)
    sql.run("rebuild_today", cluster=cluster.pk)
    roll_up(cluster.pk)
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {', '.join(f'ledger_{name}' for name in LEDGERS)}")


def found() -> Past | None:
    """Return the past that a kept folder has already."""
    cluster = Cluster.objects.filter(name="east").first()
    if cluster is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), min(hour) FROM ledger_hour")
        cells, first = cursor.fetchone()
    roll_up(cluster.pk)
    days = (cluster.open_hour - first).days
    return Past(cluster, cells, days, int(cluster.open_hour.timestamp()) * 1000)


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
