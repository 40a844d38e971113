"""What a run lost and why: each failure, preemption, stall and wait of its gang with what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ledger import sql
from ledger.core.categories import FAILURES, PREEMPTIONS, Category
from ledger.core.totals import Ledger
from ledger.queries.goodput import ledger_of
from ledger.queries.runs import RunKey

INTERRUPTED = (Category.RESTART, Category.FAILURE, Category.PREEMPTION)
REASONS = tuple(sorted(FAILURES | PREEMPTIONS | {"stalled"}))


@dataclass(frozen=True, slots=True)
class Loss:
    """Time lost in one stretch [since, until), ms, that overlaps over `workers` workers; `still`: it goes on.

    `worker` is the first of them and `machine` where that one was, "" when it was nowhere; `reasons` as sources
    gave them; `ledger` is all that was lost, in GPU-microseconds.
    """

    since: int
    until: int
    still: bool
    workers: int
    worker: str
    machine: str
    reasons: tuple[str, ...]
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Losses:
    """The costliest losses, and how many there are in all."""

    rows: tuple[Loss, ...]
    count: int


def losses(run: RunKey, start: int, end: int, limit: int = 20) -> Losses:
    """Return what a run lost within [start, end), ms; all of it adds up to what its ledger lost."""
    found = sql.rows(
        "losses",
        run=run.id,
        start=start,
        end=end,
        limit=limit,
        productive=int(Category.PRODUCTIVE),
        together=[int(category) for category in INTERRUPTED],
        reasons=list(REASONS),
    )
    rows = tuple(_loss(*row[1:7], reasons=row[7], amounts=row[8:]) for row in found)
    return Losses(rows, found[0][0] if found else 0)


def _loss(*told: Any, reasons: Sequence[str], amounts: Sequence[Any]) -> Loss:
    since, until, still, workers, worker, machine = told
    return Loss(since, until, still, workers, worker, machine, tuple(reasons), ledger_of(amounts))
