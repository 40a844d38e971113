"""Our own NDJSON: batches one after another, each a head and then a line an item, as `export` writes them."""

import io
import json
from collections.abc import Iterator

from ledger.batches import Batch, ReadingItem, RunItem, WorkerItem
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


def whole_runs(batches: list[Batch], source: str, items: int) -> list[Batch]:
    """Return the same runs and states in batches of about so many items, each run whole and in one of them.

    A run that is told in two would be counted as going on up to now, and then taken back hour by hour. Each batch
    says that everything was watched, from the first batch's beginning to the last one's end.
    """
    seen_from = min(batch.sent_at if batch.seen_from is None else batch.seen_from for batch in batches)
    sent_at = max(batch.sent_at for batch in batches)
    runs = {item.uid: item for batch in batches for item in batch.runs}
    states: dict[str, list[WorkerItem]] = {uid: [] for uid in runs}
    samples: dict[str, list[ReadingItem]] = {uid: [] for uid in runs}
    for batch in batches:
        for state in batch.workers:
            states.setdefault(state.run, []).append(state)
        for sample in batch.readings:
            samples.setdefault(sample.run, []).append(sample)
    now = Batch(source, sent_at, seen_from, machines=[item for batch in batches for item in batch.machines])
    now.refused = [item for batch in batches for item in batch.refused]
    found = [now]
    for uid in dict.fromkeys((*states, *samples)):
        size = len(states.get(uid, ())) + len(samples.get(uid, ())) + 1
        if now.runs and len(now.runs) + len(now.workers) + len(now.readings) + size > items:
            now = Batch(source, sent_at, seen_from)
            found.append(now)
        if uid in runs:
            now.runs.append(runs[uid]._replace(index=len(now.runs)))
        for state in states.get(uid, ()):
            now.workers.append(state._replace(index=len(now.workers)))
        for sample in samples.get(uid, ()):
            now.readings.append(sample._replace(index=len(now.readings)))
    return found


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
