"""A batch in the words of the interface: the object that is posted, and its lines as NDJSON."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.batches import Batch, MachineItem, ReadingItem, RunItem, WorkerItem
from ledger.decode.again import condition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
type_json = dict[str, Any]


def instant_text(at: int) -> str:
    """Return ms as "2017-10-07T01:11:39.000Z"."""
    moment = _EPOCH + timedelta(milliseconds=at)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"


def body_of(batch: Batch) -> type_json:
    """Return the JSON object of a batch; what an item does not say is left out."""
    lists = {
        "machines": [machine_json(item) for item in batch.machines],
        "runs": [run_json(item) for item in batch.runs],
        "workers": [worker_json(item) for item in batch.workers],
        "readings": [reading_json(item) for item in batch.readings],
    }
    return head_of(batch) | {name: items for name, items in lists.items() if items}


def lines_of(batch: Batch) -> Iterator[str]:
    """Yield a batch as NDJSON: its head, then a line an item."""
    body = body_of(batch)
    yield _line(head_of(batch))
    for name in ("machines", "runs", "workers", "readings"):
        for item in body.get(name, ()):
            yield _line({"list": name} | item)


def _line(value: type_json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def head_of(batch: Batch) -> type_json:
    head: type_json = {"source": batch.source, "sent_at": instant_text(batch.sent_at)}
    if batch.seen_from is not None:
        head["seen_from"] = instant_text(batch.seen_from)
    if batch.complete:
        head["complete"] = True
    return head


def machine_json(item: MachineItem) -> type_json:
    return _told(name=item.name, pool=item.pool, gpus=_thousandths(item.gpus_milli), ready=item.ready)


def run_json(item: RunItem) -> type_json:
    return _told(
        workspace=item.workspace,
        uid=item.uid,
        name=item.name,
        kind=item.kind,
        user=item.user,
        submitted_at=_instant(item.submitted_at),
        ended_at=_instant(item.ended_at),
        outcome=item.outcome,
        min_goodput=_thousandths(item.min_goodput_milli),
        conditions=None if item.conditions is None else [condition(one) for one in item.conditions],
        log_profile=item.log_profile,
    )


def worker_json(item: WorkerItem) -> type_json:
    return _told(
        run=item.run,
        worker=item.worker,
        at=instant_text(item.at),
        phase=item.phase.label or None,
        reason=item.reason or None,
        attempt=item.attempt,
        gpus=_thousandths(item.gpus_milli),
        machine=item.machine,
        pool=item.pool or None,
        stalled=item.stalled,
        pod=item.pod,
        devices=None if item.devices is None else list(item.devices),
    )


def reading_json(item: ReadingItem) -> type_json:
    told = _told(
        run=item.run,
        worker=item.worker,
        at=instant_text(item.at),
        gpu_busy=_thousandths(item.busy_milli_percent),
        step=item.step,
        step_seconds=_thousandths(item.step_ms),
    )
    return told if item.since is None else told | {"from": instant_text(item.since)}


def _told(**fields: object) -> type_json:
    return {name: value for name, value in fields.items() if value is not None}


def _instant(at: int | None) -> str | None:
    return None if at is None else instant_text(at)


def _thousandths(milli: int | None) -> int | float | None:
    """Return the JSON number of an integer number of thousandths: 8000 → 8, 142 → 0.142."""
    if milli is None:
        return None
    return milli // 1000 if milli % 1000 == 0 else milli / 1000
