"""Tell a world to the real ledger on Postgres, by the bodies that agents send, and read its cells."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from random import Random

from ledger import sql
from ledger.categorizer import PARTITIONS_AHEAD, categorize
from ledger.core.categories import Category
from ledger.core.postings import LINES
from ledger.core.windows import DAY, HOUR, floor_hour
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, ClusterRule, LedgerHour, OpenCell, Organization
from tests.deliveries import Delivery
from tests.evidence import Settings, milli
from tests.oracle import type_cell

_numbers = count()


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)


def make_cluster(settings: Settings, began: int) -> Cluster:
    """Make a cluster of an organization of its own whose clock stands at `began` (ms), in whatever year tests run."""
    sql.value("partitions", lower=began - 31 * DAY, upper=began + PARTITIONS_AHEAD)
    hour = moment(floor_hour(began))
    cluster = Cluster.objects.create(
        organization=Organization.objects.create(name=f"organization {next(_numbers)}"),
        name="east",
        busy_threshold_milli_percent=milli(settings.busy_percent),
        stall_after_ms=settings.stall_after,
        carry_max_ms=settings.carry_max,
        open_hour=hour,
        first_hour=hour,
        final_to=hour,
        checked_to=moment(began),
    )
    for rule in settings.rules:
        category = Category[rule.unmeasured_as.upper()]
        ClusterRule.objects.create(
            cluster=cluster,
            since=moment(rule.since),
            unmeasured_as=category,
            readings_expected=rule.readings_expected,
        )
    return cluster


def take(cluster: Cluster, delivery: Delivery) -> None:
    ingest(cluster, decode(json.dumps(delivery.batch).encode(), "application/json"), now=delivery.now)


def tell(cluster: Cluster, deliveries: Iterable[Delivery], until: int, rng: Random) -> None:
    """Deliver all, with the categorizer at random instants between, and at `until`."""
    now = 0
    for delivery in deliveries:
        if now and rng.random() < 0.2:
            categorize(cluster, now=rng.randint(now, delivery.now), batch_size=rng.choice((1, 3, 1000)))
        now = delivery.now
        take(cluster, delivery)
    categorize(cluster, now=until)


def cells(cluster: Cluster, at: int) -> dict[type_cell, dict[str, int]]:
    """Return the ledger at `at`, in the open hour, in the shape of the oracle."""
    found = {}
    names = ("run__uid", "machine__name", "pool__name")
    for hour, *key, amounts in _closed(cluster, names):
        found[round(hour.timestamp() * 1000), *key] = amounts
    open_hour = round(Cluster.objects.get(pk=cluster.pk).open_hour.timestamp() * 1000)
    assert open_hour <= at < open_hour + HOUR
    columns = (*(f"g_{line}" for line in LINES), *(f"a_{line}" for line in LINES))
    for *key, values in _rows(OpenCell.objects.filter(cluster=cluster).values_list(*names, *columns), 3):
        rates, offsets = values[: len(LINES)], values[len(LINES) :]
        found[open_hour, *key] = [a + g * (at - open_hour) for g, a in zip(rates, offsets, strict=True)]
    lines = {key: dict(zip(LINES, amounts, strict=True)) for key, amounts in found.items()}
    return {key: kept for key, cell in lines.items() if (kept := {k: v for k, v in cell.items() if v})}


def _closed(cluster: Cluster, names: tuple[str, ...]) -> Iterable[list]:
    rows = LedgerHour.objects.filter(cluster=cluster).values_list("hour", *names, *LINES)
    return _rows(rows, 4)


def _rows(rows: Iterable[tuple], width: int) -> Iterable[list]:
    for row in rows:
        yield [*row[:width], list(row[width:])]
