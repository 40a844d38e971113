"""Alibaba's openb pod list (cluster-trace-gpu-v2023): a pod is a run with one worker, seconds from the start."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation

from ledger.core.categories import Phase
from ledger.replay.trace import Attempt, BadTrace, Part, Trace, TraceRun, TraceState, TraceWorker, gang

COLUMNS = ("name", "num_gpu", "gpu_milli", "pod_phase", "creation_time", "deletion_time", "scheduled_time")
END_REASONS = {"Succeeded": "completed", "Failed": "failure"}
WITHOUT_GPUS = "pod that asks for no GPU: in no ledger"
NEVER_PLACED = "pod that was never placed: only waiting"


def read(body: bytes) -> Trace:
    """Return the pods of an openb list; raises BadTrace when it is none.

    The list has no calendar: its instants are ms from the trace's start. Pods still Running or Pending
    stop at their deletion_time, which is the end of the trace.
    """
    rows = list(csv.DictReader(io.StringIO(_text(body), newline="")))
    if not rows or any(column not in rows[0] for column in COLUMNS):
        raise BadTrace(f"not an openb pod list: its first line must name {', '.join(COLUMNS)}")
    notes: Counter[str] = Counter()
    runs = [_run(row, line, notes) for line, row in _once(rows, notes)]
    instants = [state.at for run in runs for worker in run.workers for state in worker.states]
    return Trace(runs, min(instants), max(instants), has_calendar=False, notes=notes)


def _once(rows: Iterable[dict[str, str]], notes: Counter[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, row) of each pod the first time it is told."""
    seen: set[str] = set()
    for line, row in enumerate(rows, 2):
        if row["name"] in seen:
            notes["pod told twice, the first time counts"] += 1
        else:
            seen.add(row["name"])
            yield line, row


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadTrace("not an openb pod list: it is not UTF-8 text") from None


def _run(row: Mapping[str, str], line: int, notes: Counter[str]) -> TraceRun:
    try:
        created, deleted = _ms(row["creation_time"]), _ms(row["deletion_time"])
        scheduled = _ms(row["scheduled_time"]) if row["scheduled_time"] else None
        gpus = int(row["num_gpu"] or 0) * int(row["gpu_milli"] or 0)
    except (ValueError, InvalidOperation, TypeError):
        raise BadTrace(f"line {line} of the pod list has a number that is none") from None
    phase = row["pod_phase"]
    if gpus == 0:
        notes[WITHOUT_GPUS] += 1
    if scheduled is None:
        notes[NEVER_PLACED] += 1
        workers: tuple[TraceWorker, ...] = (_never_placed(created, deleted, gpus),)
    else:
        attempt = Attempt(scheduled, deleted, (Part(None, gpus),))
        workers = gang(created, [attempt], END_REASONS.get(phase, ""))
    over = phase in END_REASONS
    return TraceRun(
        uid=row["name"],
        name=row["name"],
        workers=workers,
        kind="Pod",
        submitted_at=created,
        ended_at=deleted if over else None,
        outcome=phase or None,
    )


def _never_placed(created: int, deleted: int, gpus: int) -> TraceWorker:
    states = (TraceState(created, Phase.PENDING, "", 1, gpus), TraceState(deleted, Phase.ENDED, "", 1))
    return TraceWorker("main", states)


def _ms(seconds: str) -> int:
    return int(Decimal(seconds) * 1000)
