"""All that a ledger keeps of an edge and after it, row by row as Postgres writes it."""

from django.db import connection

from ledger.models import Cluster
from tests.postgres_world import moment

WORKERS = "worker_id IN (SELECT id FROM ledger_worker WHERE cluster_id = %(cluster)s)"
LASTING = """worker_id IN (
    SELECT worker_id FROM ledger_span WHERE cluster_id = %(cluster)s AND (until IS NULL OR until > %(edge)s)
)"""
YOUNGER = {
    "hour": "cluster_id = %(cluster)s AND hour >= %(edge)s",
    "opencell": "cluster_id = %(cluster)s",
    "hourpool": "cluster_id = %(cluster)s AND hour >= %(edge)s",
    "daypool": "cluster_id = %(cluster)s AND day >= %(edge)s",
    "dayrun": "cluster_id = %(cluster)s AND day >= %(edge)s",
    "eighthrun": "cluster_id = %(cluster)s AND eighth >= %(edge)s",
    "eighthmachine": "cluster_id = %(cluster)s AND eighth >= %(edge)s",
    "daymachine": "cluster_id = %(cluster)s AND day >= %(edge)s",
    "weekmachine": "cluster_id = %(cluster)s AND week >= %(edge)s",
    "weekrun": "cluster_id = %(cluster)s AND week >= %(edge)s",
    "revision": "cluster_id = %(cluster)s AND hour >= %(edge)s",
    "span": "cluster_id = %(cluster)s AND (until IS NULL OR until > %(edge)s)",
    "state": "cluster_id = %(cluster)s AND at >= %(edge)s",
    "gone": f"{WORKERS} AND at >= %(edge)s",
    "flip": f"{WORKERS} AND at >= %(edge)s",
    "stall": f"{LASTING} AND (until IS NULL OR until > %(edge)s)",
    "covered": f"{WORKERS} AND upper > %(edge)s",
    "told": f"{WORKERS} AND upper > %(edge)s",
    "word": "source_id IN (SELECT id FROM ledger_source WHERE cluster_id = %(cluster)s) AND upper > %(edge)s",
    "worker": "cluster_id = %(cluster)s AND (stay_since IS NOT NULL OR busy_at >= %(edge)s OR due IS NOT NULL)",
}


def younger(cluster: Cluster, edge: int) -> dict[str, list[str]]:
    """Return the rows of each table that are not older than the edge (ms)."""
    where = {"cluster": cluster.pk, "edge": moment(edge)}
    found = {}
    with connection.cursor() as cursor:
        for table, condition in YOUNGER.items():
            cursor.execute(f"SELECT t::text FROM ledger_{table} AS t WHERE {condition} ORDER BY 1", where)
            found[table] = [row for (row,) in cursor.fetchall()]
    return found


def older(cluster: Cluster, edge: int) -> dict[str, int]:
    """Return how many rows before the edge there are, of the tables in which there should be none."""
    where = {"cluster": cluster.pk, "edge": moment(edge)}
    conditions = {
        **dict.fromkeys(("hour", "hourpool", "revision"), "cluster_id = %(cluster)s AND hour < %(edge)s"),
        **dict.fromkeys(("dayrun", "daypool", "daymachine"), "cluster_id = %(cluster)s AND day < %(edge)s"),
        **dict.fromkeys(("eighthrun", "eighthmachine"), "cluster_id = %(cluster)s AND eighth < %(edge)s"),
        "span": "cluster_id = %(cluster)s AND until <= %(edge)s",
        "covered": f"{WORKERS} AND upper <= %(edge)s",
        "stall": f"{WORKERS} AND until <= %(edge)s",
    }
    found = {}
    with connection.cursor() as cursor:
        for table, condition in conditions.items():
            cursor.execute(f"SELECT count(*) FROM ledger_{table} WHERE {condition}", where)
            found[table] = cursor.fetchone()[0]
    return {table: count for table, count in found.items() if count}
