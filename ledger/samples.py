"""Take the readings of a batch: the newest of each worker's streams in its row, and what they leave as facts."""

from collections.abc import Sequence

from ledger import sql
from ledger.batches import Batch, Receipt
from ledger.clock import Clock
from ledger.core.facts import FOREVER
from ledger.core.streams import Reading, Stream, Trace, take
from ledger.naming import Names, WorkerRow


def take_readings(clock: Clock, batch: Batch, names: Names, receipt: Receipt) -> dict[int, int]:
    """Store what the readings left and return {worker id: the instant from which its time changed}."""
    traces: dict[int, Trace] = {}
    streams: dict[int, Stream] = {}
    workers: dict[int, WorkerRow] = {}
    for item in batch.readings:
        worker = names.workers[names.runs[item.run], item.worker]
        workers[worker.id] = worker
        trace = traces.setdefault(worker.id, Trace())
        before = (trace.taken, trace.late, trace.duplicate)
        reading = Reading(item.at, item.since, item.busy_milli_percent, item.step, item.step_ms)
        stream = streams.get(worker.id, worker.stream)
        streams[worker.id] = take(stream, reading, clock.thresholds, clock.now, trace)
        _note(receipt, trace, before)
    changed = {w: streams[w] for w in sorted(streams) if streams[w] is not workers[w].stream}
    _write_streams(changed)
    _keep_traces(traces, workers)
    return _dirty(traces, workers)


def _note(receipt: Receipt, trace: Trace, before: tuple[int, int, int]) -> None:
    """A reading counts once: accepted when any of its two values was new, else late, else a repetition."""
    taken, late, duplicate = before
    if trace.taken > taken:
        receipt.accepted += 1
    elif trace.late > late:
        receipt.late += 1
    elif trace.duplicate > duplicate:
        receipt.duplicate += 1
    else:
        receipt.accepted += 1


def _write_streams(streams: dict[int, Stream]) -> None:
    if not streams:
        return
    columns = zip(*streams.values(), strict=True)
    sql.run("streams_write", workers=list(streams), **dict(zip(Stream._fields, map(list, columns), strict=True)))


def _keep_traces(traces: dict[int, Trace], workers: dict[int, WorkerRow]) -> None:
    items = traces.items()
    proofs = [(worker, stall.progress_at, stall.proof_at) for worker, trace in items for stall in trace.proofs]
    _store("flips_insert", [(worker, *flip) for worker, trace in items for flip in trace.flips], "ats", "busy")
    _store("stalls_insert", proofs, "progress", "proofs")
    _store("stalls_end", [(worker, *end) for worker, trace in items for end in trace.resumed], "progress", "untils")
    _store("covered_insert", [(worker, *r) for worker, trace in items for r in trace.covered], "lowers", "uppers")
    _store("told_insert", [(worker, *r) for worker, trace in items for r in trace.told], "lowers", "uppers")
    if proofs:
        sql.run("runs_stall", runs=sorted({workers[worker].run for worker, _, _ in proofs}))


def _store(statement: str, rows: Sequence[tuple[int, int, object]], second: str, third: str) -> None:
    if rows:
        workers, seconds, thirds = (list(column) for column in zip(*rows, strict=True))
        sql.run(statement, **{"workers": workers, second: seconds, third: thirds})


def _dirty(traces: dict[int, Trace], workers: dict[int, WorkerRow]) -> dict[int, int]:
    """What a worker has told matters to its gang at the first step of a stay: the open one, or one that is over."""
    dirty = {}
    for worker, trace in traces.items():
        since = trace.changed
        stay = workers[worker].stay_since
        told_to = workers[worker].stream.told_to
        if stay is None or told_to is None or told_to < stay:
            since = min(since, trace.telling_changed)
        if since < FOREVER:
            dirty[worker] = since
    return dirty
