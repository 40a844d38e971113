"""Sessions at once: whatever the interleaving, the sums are those of the facts, and no deadlock surfaces."""

import json
from functools import partial
from random import Random

import pytest
from django.db import connection

from ledger.categorizer import categorize
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster
from tests.deliveries import Delivery
from tests.faults import worlds
from tests.faults.scripted import ScriptedClock
from tests.faults.sessions import together
from tests.postgres_world import make_cluster
from tests.worlds import MONDAY

SESSIONS = 16


def ingest_all(cluster: Cluster, clock: ScriptedClock, deliveries: list[Delivery]) -> None:
    for delivery in deliveries:
        clock.reach(delivery.now)
        ingest(cluster, decode(json.dumps(delivery.batch).encode(), "application/json"))


def categorize_often(cluster: Cluster, rng: Random, times: int) -> None:
    for _ in range(times):
        categorize(cluster, batch_size=rng.choice((1, 3, 1000)))


def deadlocks() -> int:
    """Return how many Postgres has counted in this database; all locks are taken in one order, so none ever."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()")
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def leave_exact_sums(clock: ScriptedClock, seed: int) -> None:
    """Sixteen sessions at once: one for each source of several worlds, and categorizers."""
    tolds = [worlds.told_world(seed * 100 + index, f"w{index}") for index in range(6)]
    cluster = make_cluster(worlds.SETTINGS, MONDAY)
    ways = [way for told in tolds for way in worlds.by_source(told)]
    first, rest = ways[: SESSIONS - 3], ways[SESSIONS - 3 :]
    jobs = [partial(ingest_all, cluster, clock, way) for way in first]
    jobs += [partial(categorize_often, cluster, Random(index), 12) for index in range(SESSIONS - len(jobs))]
    before = deadlocks()
    together(jobs)
    assert deadlocks() == before
    for way in rest:
        ingest_all(cluster, clock, way)
    until = worlds.end(tolds, clock.read())
    clock.set(until)
    worlds.prove(cluster, tolds, until, categorize(cluster).counted_until)


@pytest.mark.parametrize("seed", range(4))
def test_sixteen_sessions_leave_exact_sums(clock: ScriptedClock, seed: int) -> None:
    leave_exact_sums(clock, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4, 100))
def test_sixteen_more_sessions_leave_exact_sums(clock: ScriptedClock, seed: int) -> None:
    leave_exact_sums(clock, seed)
