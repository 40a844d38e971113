"""Bodies of observations for tests."""

import json
from typing import Any

from ledger.batches import Batch
from ledger.decode import decode

JSON = "application/json"
NDJSON = "application/x-ndjson"
HEAD: dict[str, Any] = {"source": "kubernetes/east", "sent_at": "2026-10-01T12:00:00Z"}
MACHINE: dict[str, Any] = {"name": "gpu-7", "pool": "h100", "gpus": 8, "ready": True}
RUN: dict[str, Any] = {"uid": "8c1f", "workspace": "vision", "name": "llm", "kind": "PyTorchJob", "user": "ana"}
WORKER: dict[str, Any] = {"run": "8c1f", "worker": "worker-3", "at": "2026-10-01T11:59:00Z"}
READING: dict[str, Any] = {"run": "8c1f", "worker": "worker-3", "at": "2026-10-01T11:59:00Z"}
ITEMS = {"machines": MACHINE, "runs": RUN, "workers": WORKER, "readings": READING}


def as_json(**lists: Any) -> bytes:
    """A batch as JSON; lists and keys of the head as arguments."""
    return json.dumps({**HEAD, **lists}).encode()


def as_lines(head: dict[str, Any] | None = None, **lists: list[dict[str, Any]]) -> bytes:
    """The same batch as NDJSON."""
    items = [{"list": name, **item} for name, items in lists.items() for item in items]
    return b"".join(json.dumps(line).encode() + b"\n" for line in [{**HEAD, **(head or {})}, *items])


def one(list_name: str, **values: Any) -> Batch:
    """Decode a batch of one usual item with some of its values changed."""
    return decode(as_json(**{list_name: [{**ITEMS[list_name], **values}]}), JSON)


def refusal_of(list_name: str, **values: Any) -> tuple[str, str]:
    """The field and the error for which the only item of a batch is refused."""
    batch = one(list_name, **values)
    assert [(r.list, r.index) for r in batch.refused] == [(list_name, 0)], batch
    assert not getattr(batch, list_name)
    assert batch.refused[0].item == {**ITEMS[list_name], **values}
    return batch.refused[0].field, batch.refused[0].error
