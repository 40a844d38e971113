"""Take a batch of observations: store what is new of it and count it, in one transaction."""

import json
from collections.abc import Iterable
from typing import TypeVar

from ledger import clock, sql
from ledger.batches import Batch, ReadingItem, Receipt, Refusal, WorkerItem
from ledger.clock import Clock
from ledger.core.facts import content_of
from ledger.decode.again import as_sent
from ledger.lists import take_list
from ledger.models import Cluster, Workspace
from ledger.naming import NO_POOL_NAME, Names, resolve
from ledger.recount import recount
from ledger.samples import take_readings
from ledger.words import hear

AHEAD_MAX = 120_000
Item = TypeVar("Item", WorkerItem, ReadingItem)


class BadBatch(ValueError):
    """A batch that cannot be taken as a whole; the text says why in one sentence."""


def ingest(cluster: Cluster, batch: Batch, *, workspace: Workspace | None = None, now: int | None = None) -> Receipt:
    """Take a batch and return what became of its items.

    `workspace` is the only one that may be written to (None: any of the cluster's organization); `now` (ms)
    stands for the database's clock. Taking a batch again changes nothing. Raises BadBatch when its word is
    more than two minutes ahead.
    """
    only = None if workspace is None else workspace.pk
    return clock.post(cluster.pk, now, lambda at: _take(at, _copy(batch), only))


def _copy(batch: Batch) -> Batch:
    """A step may run twice, so what it takes out of a batch it takes out of its own."""
    return Batch(
        batch.source, batch.sent_at, batch.seen_from, batch.complete, list(batch.machines), list(batch.runs),
        list(batch.workers), list(batch.readings), list(batch.refused), set(batch.named),
    )  # fmt: skip


def _take(at: Clock, batch: Batch, only: int | None) -> Receipt:
    if batch.sent_at > at.now + AHEAD_MAX:
        raise BadBatch("sent_at is more than 2 minutes ahead of this server's clock: is the sender's clock right?")
    receipt = Receipt(refused=batch.refused)
    batch.workers = list(_in_time(batch.workers, "workers", at, receipt.refused))
    batch.readings = list(_in_time(batch.readings, "readings", at, receipt.refused))
    names = resolve(at, batch, only, receipt.refused)
    receipt.accepted = len(batch.machines) + len(batch.runs)
    dirty: dict[int, int] = {}
    _join(dirty, _store_states(at, batch, names, receipt))
    _place(batch, names)
    _join(dirty, take_readings(at, batch, names, receipt))
    _join(dirty, hear(at, batch, names.source))
    if batch.complete and batch.sent_at >= at.edge:
        _join(dirty, take_list(batch, names))
    recount(at, dirty)
    _keep_refused(at, batch.source, receipt.refused)
    return receipt


def _join(dirty: dict[int, int], more: dict[int, int]) -> None:
    for worker, since in more.items():
        dirty[worker] = min(since, dirty.get(worker, since))


def _in_time(items: Iterable[Item], listed: str, at: Clock, refused: list[Refusal]) -> Iterable[Item]:
    for item in items:
        if item.at > at.now + AHEAD_MAX:
            refused.append(Refusal(listed, item.index, "at", "future", as_sent(item)))
        elif item.at < at.edge:
            refused.append(Refusal(listed, item.index, "at", "too_old", as_sent(item)))
        else:
            yield item


def _store_states(at: Clock, batch: Batch, names: Names, receipt: Receipt) -> dict[int, int]:
    """Store the states that are new and return {worker id: the earliest of them}."""
    if not batch.workers:
        return {}
    columns = list(zip(*(_state(item, names) for item in batch.workers), strict=True))
    keys = (
        "workers",
        "ats",
        "attempts",
        "phases",
        "contents",
        "reasons",
        "gpus",
        "machines",
        "pools",
        "stalled",
    )
    new = sql.rows(
        "states_insert",
        cluster=at.cluster,
        source=names.source.id,
        **{key: list(column) for key, column in zip(keys, columns, strict=True)},
    )
    receipt.accepted += len(new)
    receipt.duplicate += len(batch.workers) - len(new)
    dirty: dict[int, int] = {}
    for worker, instant in new:
        dirty[worker] = min(instant, dirty.get(worker, instant))
    return dirty


def _place(batch: Batch, names: Names) -> None:
    """Keep the pod and the devices that the newest of a worker's states say."""
    told = [item for item in batch.workers if item.pod is not None or item.devices is not None]
    pods: dict[int, str] = {}
    devices: dict[int, str] = {}
    for item in sorted(told, key=lambda item: (item.at, item.attempt or 0)):
        worker = names.workers[names.runs[item.run], item.worker].id
        if item.pod is not None:
            pods[worker] = item.pod
        if item.devices is not None:
            devices[worker] = ",".join(item.devices)
    if told:
        order = sorted(pods.keys() | devices.keys())
        sql.run("workers_place", workers=order, pods=list(map(pods.get, order)), devices=list(map(devices.get, order)))


def _state(item: WorkerItem, names: Names) -> tuple[object, ...]:
    pool = item.pool if item.pool is None else item.pool or NO_POOL_NAME
    content = content_of(item.reason, item.gpus_milli, item.machine, pool, item.stalled, names.source.name)
    return (
        names.workers[names.runs[item.run], item.worker].id,
        item.at,
        item.attempt or 0,
        int(item.phase),
        content,
        item.reason,
        item.gpus_milli,
        None if item.machine is None else names.machines[item.machine],
        None if item.pool is None else names.pools[item.pool],
        item.stalled,
    )


def _keep_refused(at: Clock, source: str, refused: list[Refusal]) -> None:
    if refused:
        lists, indexes, fields, errors, items = (list(column) for column in zip(*refused, strict=True))
        texts = [json.dumps(item, default=str).replace("\\u0000", "\\ufffd") for item in items]
        sql.run(
            "refused_keep", cluster=at.cluster, now=at.now, source=source,
            lists=lists, indexes=indexes, fields=fields, errors=errors, items=texts,
        )  # fmt: skip
