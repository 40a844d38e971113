"""Take reports of a run: its steps as readings of the source of that run, then what its pipelines took."""

from hashlib import sha256

from django.db import transaction

from ledger import sql
from ledger.batches import Batch, Receipt
from ledger.ingest import ingest
from ledger.models import Cluster
from ledger.pipeline.reports import LIST, Reports, Took
from ledger.queries import RunKey

SOURCE_CHARACTERS_MAX = 253


def source_of(uid: str) -> str:
    """Return the name of the source that a run's training code is; a uid that is too long for it is shortened."""
    name = f"tracker/{uid}"
    return name if len(name) <= SOURCE_CHARACTERS_MAX else f"tracker/{sha256(uid.encode()).hexdigest()}"


def deliver(run: RunKey, reports: Reports, now: int | None = None) -> Receipt:
    """Take reports; taking them again changes nothing, so whoever dies in between sends them again.

    Raises ledger.ingest.BadBatch when they were made more than two minutes ahead.
    """
    refused = [one._replace(list=LIST) for one in reports.refused]
    batch = Batch(source_of(run.uid), reports.sent_at, readings=reports.readings, refused=refused)
    receipt = ingest(Cluster.objects.get(pk=run.cluster), batch, now=now)
    receipt.refused = [one._replace(list=LIST) for one in receipt.refused]
    bad = {one.index for one in receipt.refused}
    took = [one for one in reports.took if one.index not in bad]
    if took:
        told = {reading.index for reading in reports.readings}
        _count(receipt, told, _add(run, took))
    return receipt


def _add(run: RunKey, took: list[Took]) -> dict[int, str]:
    """Add what is newer than all that is there, and return by index what became of each: accepted, duplicate, late."""
    fates: dict[int, str] = {}
    rows: list[tuple[int, Took]] = []
    with transaction.atomic():
        sql.rows("run_alone", run=run.id)
        workers = _workers(run, sorted({one.worker for one in took}))
        newest = dict(workers.values())
        for one in took:
            worker = workers[one.worker][0]
            last = newest[worker]
            fates[one.index] = _fate(last, one.at)
            if fates[one.index] == "accepted":
                newest[worker] = one.at
                rows.append((worker, one))
        _write(rows)
    return fates


def _fate(newest: int | None, at: int) -> str:
    if newest is None or at > newest:
        return "accepted"
    return "duplicate" if at == newest else "late"


def _workers(run: RunKey, names: list[str]) -> dict[str, tuple[int, int | None]]:
    found = {name: (worker, at) for name, worker, at in sql.rows("pipeline_newest", run=run.id, names=names)}
    missing = [name for name in names if name not in found]
    if missing:
        sql.run("workers_make", cluster=run.cluster, runs=[run.id] * len(missing), names=missing)
        found |= {name: (worker, at) for name, worker, at in sql.rows("pipeline_newest", run=run.id, names=missing)}
    return found


def _write(rows: list[tuple[int, Took]]) -> None:
    if not rows:
        return
    _, _, ats, *columns = (list(column) for column in zip(*(one for _, one in rows), strict=True))
    names = ("batches", "walls", "sources", "transforms", "transfers")
    workers = [worker for worker, _ in rows]
    sql.run("pipeline_add", workers=workers, ats=ats, **dict(zip(names, columns, strict=True)))


def _count(receipt: Receipt, told: set[int], fates: dict[int, str]) -> None:
    """A report that has a step too is counted with it."""
    for index, fate in fates.items():
        if index not in told:
            setattr(receipt, fate, getattr(receipt, fate) + 1)
