"""Disk space comes back: a month that is dropped gives back all it took."""

import pytest
from django.db import connection

from ledger import sql
from ledger.models import Cluster
from ledger.retention import drop_months
from tests.postgres_world import moment
from tests.retention.story import EDGE, told_cluster
from tests.tables import at
from tests.worlds import DAY

ROWS = 200_000
SIZE = "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'ledger_hour'::regclass"


def size() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'ledger_hour'::regclass"
        )
        return int(cursor.fetchone()[0])


@pytest.mark.soak
@pytest.mark.django_db
def test_a_month_that_is_dropped_gives_its_disk_back() -> None:
    cluster = told_cluster()
    sql.value("partitions", lower=at("00:00"), upper=at("00:00") + 5 * DAY)
    before = size()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_hour (cluster_id, hour, run_id, machine_id, pool_id, productive, idle) "
            "SELECT %s, '2026-09-01'::timestamptz + n %% 500 * interval '1 hour', n / 500, 2, 1, 7200000000, 3600000 "
            "FROM generate_series(1, %s) AS n",
            [cluster.pk, ROWS],
        )
    full = size()
    Cluster.objects.update(kept_from=moment(EDGE + 5 * DAY))
    assert drop_months()[1]
    after = size()
    print(f"{(full - before) / ROWS:.0f} bytes a row; {full - after} bytes came back of {full}")
    assert full - after >= full - before
