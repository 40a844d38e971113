"""The minute's work: what time alone changes. It has no memory of its own; twice, or never for a day, is safe."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import NamedTuple

from django.db import transaction

from ledger import clock, evidence, hours, sql
from ledger.clock import Clock
from ledger.core.windows import DAY, floor_hour
from ledger.models import Cluster
from ledger.recount import recount
from ledger.rollups import roll_up

SETTLE_EXTRA = 120_000
PARTITIONS_AHEAD = 62 * DAY


class Counted(NamedTuple):
    """What a run of the categorizer did: workers counted again, hours closed, days rolled up; counted until (ms)."""

    workers: int
    hours: int
    days: int
    counted_until: int


def categorize(cluster: Cluster, *, now: int | None = None, batch_size: int = 1000) -> Counted:
    """Count what time alone has changed, close hours, roll up days; `now` (ms) stands for the database's clock."""
    closed = hours.close_over(cluster.pk, now)
    _make_partitions(cluster.pk, now)
    began = clock.barrier(cluster.pk, now)
    workers = _recount(began, _changed_by_edges(began), now, batch_size)
    with transaction.atomic():
        sql.run("cluster_checked", cluster=cluster.pk, now=began.now)
    workers += _recount(began, dict(sql.rows("workers_due", cluster=cluster.pk, now=began.now)), now, batch_size)
    days = roll_up(cluster.pk, now)
    counted_until = clock.post(cluster.pk, now, lambda at: _finish(at, began.now))
    return Counted(workers, closed, days, counted_until)


def _make_partitions(cluster: int, now: int | None) -> None:
    at = clock.read(cluster, now)
    sql.value("partitions", lower=at.edge, upper=at.now + PARTITIONS_AHEAD)


def _changed_by_edges(at: Clock) -> dict[int, int]:
    """Return the live workers for whom words ran out or came back, or a dated setting began, since the last look."""
    edges = dict(sql.rows("words_edges", cluster=at.cluster, lower=at.checked_to, upper=at.now))
    rules = [since for since, *_ in evidence.rule_rows(at.cluster) if at.checked_to < since <= at.now]
    if rules:
        sources = (source for (source,) in sql.rows("cluster_sources", cluster=at.cluster))
        edges = {source: min(*rules, edges.get(source, min(rules))) for source in sources}
    return {w: edge for source, edge in edges.items() for (w,) in sql.rows("source_workers", source=source)}


def _recount(began: Clock, dirty: Mapping[int, int], now: int | None, batch_size: int) -> int:
    """Count workers again in batches, each a transaction."""
    batches = _batches(dirty, batch_size)
    return sum(clock.post(began.cluster, now, partial(recount, dirty=batch)) for batch in batches)


def _batches(dirty: Mapping[int, int], size: int) -> Iterator[dict[int, int]]:
    items = iter(dirty.items())
    while batch := dict(islice(items, size)):
        yield batch


def _finish(at: Clock, began: int) -> int:
    """An hour is final when this began long enough after its end that nothing in order can still change it.

    A source that had no word since then is stale by now, for `settle` is longer than its words carry.
    """
    settle = max(at.thresholds.stall_after, at.thresholds.carry_max) + SETTLE_EXTRA
    final_to = floor_hour(began - settle)
    return int(sql.value("cluster_counted", cluster=at.cluster, now=at.now, began=began, final_to=final_to))
