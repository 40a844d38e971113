"""The time of a run's workers: each stretch of it, or how it is shared out over groups of many workers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from ledger import sql
from ledger.core.categories import Category
from ledger.queries.runs import RunKey

_CATEGORIES = tuple(Category)  # a look-up is cheaper than a call, and a timeline has many


class Segment(NamedTuple):
    """A worker's time in one category; `to` None = still."""

    since: int
    to: int | None
    category: Category
    unobserved: bool
    gpus_milli: int
    held: bool
    machine: str
    pool: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The segments of each worker of a run, and up to when they are counted."""

    workers: tuple[tuple[str, tuple[Segment, ...]], ...]
    counted_until: int


class Timed(NamedTuple):
    """A worker that has had any time."""

    id: int
    name: str


class Change(NamedTuple):
    """How the GPUs of a group changed in a column of a timeline, all in one category, held or not.

    `gpus_milli` more hold in all columns after it; in the column itself they make `amount`, milli-GPUs × ms.
    """

    group: int
    category: Category
    held: bool
    column: int
    gpus_milli: int
    amount: int


def timeline(run: RunKey, start: int, end: int, limit: int | None = None) -> Timeline:
    """Return the segments of the run's workers within [start, end), ms; the first `limit` of them."""
    counted_until = int(sql.value("cluster_until", cluster=run.cluster))
    return Timeline(tuple(_lanes(run, start, end, None, limit)), counted_until)


def timed_workers(run: RunKey, start: int, end: int) -> tuple[Timed, ...]:
    """Return the workers of a run that have had any time within [start, end), ms, in no order."""
    return tuple(Timed(*row) for row in sql.rows("timeline_workers", run=run.id, start=start, end=end))


def segments(run: RunKey, workers: Sequence[Timed], start: int, end: int) -> dict[str, tuple[Segment, ...]]:
    """Return the segments of some workers of a run within [start, end), ms, by the workers' names."""
    return dict(_lanes(run, start, end, [worker.id for worker in workers], None))


def changes(groups: Sequence[Sequence[Timed]], start: int, end: int, until: int, size: int) -> list[Change]:
    """Return how the GPUs of groups of workers change within [start, end), by columns of `size` ms.

    What goes on ends at `until`. A run's timeline has a span for each worker and change; this has as many rows as a
    picture of it needs.
    """
    rows = sql.rows(
        "timeline_changes",
        workers=[worker.id for members in groups for worker in members],
        groups=[number for number, members in enumerate(groups) for _ in members],
        start=start,
        end=end,
        until=until,
        size=size,
    )
    return [Change(row[0], _CATEGORIES[row[1]], *row[2:]) for row in rows]


def _lanes(
    run: RunKey, start: int, end: int, workers: list[int] | None, limit: int | None
) -> Iterator[tuple[str, tuple[Segment, ...]]]:
    rows: list[tuple[Any, ...]] = sql.rows("timeline", run=run.id, start=start, end=end, workers=workers, limit=limit)
    for worker, lane in groupby(rows, key=lambda row: row[0]):
        yield worker, tuple(Segment(row[1], row[2], _CATEGORIES[row[3]], *row[4:]) for row in lane)
