"""Our own NDJSON: batches one after another, each a head and then a line an item, as `export` writes them."""

import io
import json
from collections.abc import Iterator

from ledger.batches import Batch, ReadingItem, RunItem
from ledger.decode import BODY_BYTES_MAX, BadBody, decode
from ledger.replay.trace import BadTrace

NDJSON = "application/x-ndjson"


def read(body: bytes) -> Iterator[Batch]:
    """Yield the batches of a file in its order. Raises BadTrace at the first that is none, saying its line."""
    if _is_one_object(body):
        yield _decoded(body, "application/json", 1)
        return
    lines: list[bytes] = []
    began = 1
    for number, line in enumerate(io.BytesIO(body), 1):
        if not line.strip():
            continue
        if lines and _is_head(line, number):
            yield _decoded(b"".join(lines), NDJSON, began)
            lines, began = [], number
        lines.append(line)
    if not lines:
        raise BadTrace("the file is empty")
    yield _decoded(b"".join(lines), NDJSON, began)


def _is_one_object(body: bytes) -> bool:
    """Whether the file is a single JSON body: small enough, and its lists stand inside of it."""
    if len(body) > BODY_BYTES_MAX:
        return False
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and bool({"machines", "runs", "workers", "readings"} & found.keys())


def _is_head(line: bytes, number: int) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadTrace(f"line {number} is not JSON ({error})") from None
    return isinstance(found, dict) and "list" not in found


def _decoded(body: bytes, content_type: str, line: int) -> Batch:
    try:
        return decode(body, content_type)
    except BadBody as error:
        raise BadTrace(f"the batch that begins in line {line} cannot be read: {error.detail}") from None


def span(batches: list[Batch]) -> tuple[int, int]:
    """Return the first and last instant (ms) that any of the batches tells."""
    instants = [at for batch in batches for at in _instants(batch)]
    return min(instants), max(instants)


def _instants(batch: Batch) -> Iterator[int]:
    yield batch.sent_at
    if batch.seen_from is not None:
        yield batch.seen_from
    yield from (item.at for item in batch.workers)
    yield from (item.at for item in batch.readings)


def shifted(batch: Batch, shift: int, workspace: str | None = None) -> Batch:
    """Return the batch with every instant moved by `shift` ms, and its runs in `workspace` unless that is None."""
    return Batch(
        source=batch.source,
        sent_at=batch.sent_at + shift,
        seen_from=_moved(batch.seen_from, shift),
        complete=batch.complete,
        machines=list(batch.machines),
        runs=[_run(item, shift, workspace) for item in batch.runs],
        workers=[item._replace(at=item.at + shift) for item in batch.workers],
        readings=[_reading(item, shift) for item in batch.readings],
        refused=list(batch.refused),
        named=set(batch.named),
    )


def _run(item: RunItem, shift: int, workspace: str | None) -> RunItem:
    return item._replace(
        workspace=workspace or item.workspace,
        submitted_at=_moved(item.submitted_at, shift),
        ended_at=_moved(item.ended_at, shift),
    )


def _reading(item: ReadingItem, shift: int) -> ReadingItem:
    return item._replace(at=item.at + shift, since=_moved(item.since, shift))


def _moved(at: int | None, shift: int) -> int | None:
    return None if at is None else at + shift
