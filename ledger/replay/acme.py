"""Acme's traces (Seren, Kalos): a job is a run whose GPUs are spread over `node_num` workers; times are of +08:00."""

import csv
import io
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from ledger.core.categories import Phase
from ledger.replay.trace import Attempt, BadTrace, Part, Trace, TraceRun, TraceState, TraceWorker, gang

COLUMNS = ("job_id", "user", "node_num", "gpu_num", "state", "submit_time", "start_time", "end_time")
END_REASONS = {
    "COMPLETED": "completed",
    "CANCELLED": "owner",
    "FAILED": "failure",
    "TIMEOUT": "time_limit",
    "NODE_FAIL": "node_lost",
}
CHINA = timezone(timedelta(hours=8))
WITHOUT_GPUS = "job without GPUs: in no ledger"
NEVER_PLACED = "job that was never placed: only waiting"
UNTOLD = "job without a submit_time or an end, left out"
TWICE = "job told twice, the first time counts"


def read(body: bytes) -> Trace:
    """Return the jobs of a trace_seren.csv or trace_kalos.csv; raises BadTrace when it is none."""
    rows = list(csv.DictReader(io.StringIO(_text(body), newline="")))
    if not rows or any(column not in rows[0] for column in COLUMNS):
        raise BadTrace(f"not an Acme trace: its first line must name {', '.join(COLUMNS)}")
    notes: Counter[str] = Counter()
    seen: set[str] = set()
    runs = []
    for line, row in enumerate(rows, 2):
        if row["job_id"] in seen:
            notes[TWICE] += 1
            continue
        seen.add(row["job_id"])
        run = _run(row, line, notes)
        if run is not None:
            runs.append(run)
    instants = [state.at for run in runs for worker in run.workers for state in worker.states]
    if not instants:
        raise BadTrace("no job of this file has GPUs and tells when it was submitted and when it ended")
    return Trace(runs, min(instants), max(instants), notes=notes)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadTrace("not an Acme trace: it is not UTF-8 text") from None


def _run(row: Mapping[str, str], line: int, notes: Counter[str]) -> TraceRun | None:
    submitted, start, end = (_instant(row[name], line) for name in ("submit_time", "start_time", "end_time"))
    gpus, nodes = _number(row["gpu_num"], line), _number(row["node_num"], line)
    if gpus == 0:
        notes[WITHOUT_GPUS] += 1
        return None
    if submitted is None or end is None:
        notes[UNTOLD] += 1
        return None
    state = row["state"].strip()
    if start is None or start > end:
        notes[NEVER_PLACED] += 1
        workers: tuple[TraceWorker, ...] = (_never_placed(submitted, max(submitted, end), gpus),)
    else:
        workers = gang(submitted, [Attempt(start, end, _parts(gpus, max(1, nodes)))], END_REASONS.get(state, ""))
    return TraceRun(
        uid=row["job_id"],
        name=row.get("type") or row["job_id"],
        workers=workers,
        kind="Acme job",
        user=row["user"] or None,
        submitted_at=submitted,
        ended_at=end,
        outcome=state or None,
    )


def _parts(gpus: int, nodes: int) -> tuple[Part, ...]:
    """Share whole GPUs out over the nodes; which ones they were is not told."""
    each, left = divmod(gpus, nodes)
    return tuple(Part(None, (each + (k < left)) * 1000) for k in range(nodes) if each + (k < left))


def _never_placed(submitted: int, end: int, gpus: int) -> TraceWorker:
    states = (TraceState(submitted, Phase.PENDING, "", 1, gpus * 1000), TraceState(end, Phase.ENDED, "", 1))
    return TraceWorker("main", states)


def _number(text: str, line: int) -> int:
    try:
        return int(float(text or 0))
    except ValueError:
        raise BadTrace(f"line {line} has a number that is none: {text!r}") from None


def _instant(text: str, line: int) -> int | None:
    """Return the ms of "2023-03-01 00:18:22+08:00"; None where nothing is told."""
    if text.strip() in ("", "None", "NaN", "nan", "NaT"):
        return None
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadTrace(f"line {line} has a time that is none: {text!r}") from None
    return round((parsed if parsed.tzinfo else parsed.replace(tzinfo=CHINA)).timestamp() * 1000)
