"""Runs in JSON and in CSV: their labels, their workers, and their workers' timeline."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ledger.batches import Condition
from ledger.core.categories import Category, Phase
from ledger.decode.values import iso
from ledger.queries import Loss, RunRow, RunWorker, Segment, StalledWorker, Timeline
from ledger.writing.figures import cell, in_hours, table, thousandths

Document = dict[str, Any]
COLUMNS = (
    "name", "uid", "workspace", "cluster", "kind", "user", "state", "stalled", "held_gpus", "waiting_gpus",
    "submitted_at", "ended_at", "outcome", "min_goodput", "verdict",
)  # fmt: skip


def run(of: RunRow) -> Document:
    """Return a run's labels and what it holds and waits for now; null for what its source did not say."""
    return {
        "name": of.name,
        "uid": of.uid,
        "workspace": of.workspace,
        "cluster": of.cluster,
        "kind": of.kind,
        "user": of.user,
        "state": "going" if of.going else "ended",
        "stalled": of.stalled,
        "held_gpus": thousandths(of.held_milli),
        "waiting_gpus": thousandths(of.waiting_milli),
        "submitted_at": moment(of.submitted_at),
        "ended_at": moment(of.ended_at),
        "outcome": of.outcome,
        "min_goodput": None if of.min_goodput_milli is None else thousandths(of.min_goodput_milli),
        "verdict": of.verdict or None,
    }


def csv_of(rows: Sequence[RunRow]) -> str:
    """Return runs as CSV."""
    return table(COLUMNS, ({key: cell(value) for key, value in run(row).items()} for row in rows))


class Page(NamedTuple):
    """The rows [start, end) of a list, and the address of those after them; None: there are none."""

    start: int
    end: int
    following: str | None


def run_with_workers(
    of: RunRow, workers: Sequence[RunWorker], page: Page, said: Sequence[Condition], lost: Sequence[Loss]
) -> Document:
    """Return a run, what is true of it, what its source says, what it lost and why, and a page of its workers."""
    return run(of) | {
        "attempts": max((one.attempt for one in workers), default=0),
        "conditions": list(conditions(of, workers)),
        "source_conditions": [source_condition(one) for one in said],
        "losses": [loss(one) for one in lost],
        "workers": [worker(one) for one in workers[page.start : page.end]],
        "count": len(workers),
        "next": page.following,
    }


def loss(of: Loss) -> Document:
    """Return a stretch of lost time: when, of whom, why, and what it cost."""
    kind = of.ledger.biggest_loss or Category.WAITING
    return {
        "category": kind.label,
        "since": iso(of.since),
        "until": None if of.still else iso(of.until),
        "workers": of.workers,
        "worker": of.worker,
        "machine": of.machine or None,
        "reasons": list(of.reasons),
        "lost_gpu_hours": in_hours(of.ledger.lost),
    }


def source_condition(of: Condition) -> Document:
    """Return a condition in its source's words."""
    return {**of._asdict(), "at": moment(of.at)}


def conditions(of: RunRow, workers: Sequence[RunWorker]) -> Iterator[Document]:
    """Yield what is known to be true of a run, and since when: submitted, each category of its workers now, ended."""
    if of.submitted_at is not None:
        yield {"type": "submitted", "since": iso(of.submitted_at)}
    alive = sorted((one.category, one.since) for one in workers if one.category is not None and one.since is not None)
    for category, group in groupby(alive, key=lambda one: one[0]):
        instants = [since for _, since in group]
        yield {"type": category.label, "since": iso(min(instants)), "workers": len(instants)}
    if of.ended_at is not None or of.outcome:
        yield {"type": "ended", "since": moment(of.ended_at), "reason": of.outcome}


def worker(of: RunWorker) -> Document:
    """Return a worker now; null for what does not apply."""
    return {
        "worker": of.name,
        "phase": None if of.phase is Phase.NONE else of.phase.label,
        "category": label(of.category),
        "since": moment(of.since),
        "gpus": thousandths(of.gpus_milli),
        "machine": of.machine or None,
        "pool": of.pool or None,
        "attempt": of.attempt,
        "step": of.step,
        "step_at": moment(of.step_at),
    }


def stalled_worker(of: StalledWorker) -> Document:
    """Return a worker that is stalled now."""
    told = of._asdict() | {"since": iso(of.since), "gpus": thousandths(of.gpus_milli)}
    return {key: value for key, value in told.items() if key != "gpus_milli"}


def timeline(of: Timeline) -> Document:
    """Return the segments of each worker."""
    workers = [{"worker": name, "segments": [segment(one) for one in lane]} for name, lane in of.workers]
    return {"workers": workers, "counted_until": iso(of.counted_until)}


def segment(of: Segment) -> Document:
    return {
        "from": iso(of.since),
        "to": moment(of.to),
        "category": of.category.label,
        "held": of.held,
        "unobserved": of.unobserved,
        "gpus": thousandths(of.gpus_milli),
        "machine": of.machine,
        "pool": of.pool,
        "attempt": of.attempt,
    }


def moment(at: int | None) -> str | None:
    return None if at is None else iso(at)


def label(category: Category | None) -> str | None:
    return None if category is None else category.label
