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
    streams: dict[int, Stream] = {}
    left: list[tuple[WorkerRow, Trace]] = []
    dirty: dict[int, int] = {}
    for item in batch.readings:
        worker = names.workers[names.runs[item.run], item.worker]
        reading = Reading(item.at, item.since, item.busy_milli_percent, item.step, item.step_ms, item.doing)
        trace = Trace()
        before = streams.get(worker.id) or _in_stay(worker)
        after = take(before, reading, clock.thresholds, clock.now, trace)
        if after is not before:
            streams[worker.id] = after
        _note(receipt, trace)
        since = _since(worker, trace)
        if since < FOREVER:
            dirty[worker.id] = min(since, dirty.get(worker.id, since))
        if trace.flips or trace.proofs or trace.resumed or trace.covered or trace.told:
            left.append((worker, trace))
    _write_streams(dict(sorted(streams.items())))
    _keep_traces(left)
    return dirty


def _in_stay(worker: WorkerRow) -> Stream:
    """The step times of an earlier stay say nothing about this one: another machine, another gang."""
    stream = worker.stream
    if stream.recent and worker.stay_since is not None and (stream.step_at or 0) < worker.stay_since:
        return stream._replace(recent=())
    return stream


def _note(receipt: Receipt, trace: Trace) -> None:
    """A reading counts once: accepted when any of its two values was new, else late, else a repetition."""
    if trace.taken:
        receipt.accepted += 1
    elif trace.late:
        receipt.late += 1
    elif trace.duplicate:
        receipt.duplicate += 1
    else:
        receipt.accepted += 1


def _since(worker: WorkerRow, trace: Trace) -> int:
    """What a worker has told matters to its gang at the first step of a stay: the open one, or one that is over."""
    told_to = worker.stream.told_to
    if worker.stay_since is None or told_to is None or told_to < worker.stay_since:
        return min(trace.changed, trace.telling_changed)
    return trace.changed


def _write_streams(streams: dict[int, Stream]) -> None:
    if not streams:
        return
    columns = dict(zip(Stream._fields, map(list, zip(*streams.values(), strict=True)), strict=True))
    columns["recent"] = ["{" + ",".join(map(str, recent)) + "}" for recent in columns["recent"]]
    sql.run("streams_write", workers=list(streams), **columns)


def _keep_traces(left: list[tuple[WorkerRow, Trace]]) -> None:
    proofs = [(worker.id, stall.progress_at, stall.proof_at) for worker, trace in left for stall in trace.proofs]
    ends = [(worker.id, *end) for worker, trace in left for end in trace.resumed]
    _store("flips_insert", [(worker.id, *flip) for worker, trace in left for flip in trace.flips], "ats", "busy")
    _store("stalls_insert", proofs, "progress", "proofs")
    _store("stalls_end", ends, "progress", "untils")
    _store("covered_insert", [(worker.id, *r) for worker, trace in left for r in trace.covered], "lowers", "uppers")
    _store("told_insert", [(worker.id, *r) for worker, trace in left for r in trace.told], "lowers", "uppers")
    if proofs:
        sql.run("runs_stall", runs=sorted({worker.run for worker, trace in left if trace.proofs}))


def _store(statement: str, rows: Sequence[tuple[int, int, object]], second: str, third: str) -> None:
    if rows:
        workers, seconds, thirds = (list(column) for column in zip(*rows, strict=True))
        sql.run(statement, **{"workers": workers, second: seconds, third: thirds})
