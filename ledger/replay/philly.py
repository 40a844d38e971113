"""Microsoft's Philly trace: the native format, and extracts that say `num_gpus` instead of machines.

A job is a run, each element of `attempts` one placement of its gang. Times have no zone and are taken as UTC.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ledger.core.categories import Phase
from ledger.replay.trace import Attempt, BadTrace, Part, Trace, TraceRun, TraceState, TraceWorker, gang

END_REASONS = {"Pass": "completed", "Killed": "owner", "Failed": "failure"}
type_span = tuple[int, int | None, tuple[Part, ...]]


def read(body: bytes) -> Trace:
    """Return the jobs of a Philly file in its own order; raises BadTrace when it is none."""
    jobs = _jobs(body)
    notes: Counter[str] = Counter()
    rows = [row for job in _once(jobs, notes) if (row := _row(job, notes)) is not None]
    if not rows:
        raise BadTrace("no job in this file has an id and a submitted_time")
    last = max(instant for _, submitted, spans in rows for instant in (submitted, *_instants(spans)))
    first = min(instant for _, submitted, spans in rows for instant in (submitted, *_instants(spans)))
    runs = [_run(job, submitted, spans, last, notes) for job, submitted, spans in rows]
    return Trace(runs, first, last, notes=notes)


def _jobs(body: bytes) -> list[Mapping[str, Any]]:
    try:
        jobs = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadTrace(f"not a Philly trace: it is not JSON ({error})") from None
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise BadTrace("not a Philly trace: it must be a JSON list of jobs")
    return jobs


def _once(jobs: Iterable[Mapping[str, Any]], notes: Counter[str]) -> Iterator[Mapping[str, Any]]:
    seen: set[str] = set()
    for job in jobs:
        if _id(job) and _id(job) in seen:
            notes["job told twice, the first time counts"] += 1
        else:
            seen.add(_id(job))
            yield job


def _row(job: Mapping[str, Any], notes: Counter[str]) -> tuple[Mapping[str, Any], int, list[type_span]] | None:
    submitted = instant(job.get("submitted_time"))
    if submitted is None or not _id(job):
        notes["job without an id or a submitted_time, left out"] += 1
        return None
    try:
        return job, submitted, sorted(_spans(job, notes), key=lambda span: span[0])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadTrace(f"job {_id(job)} is not as the format says ({error})") from None


def _spans(job: Mapping[str, Any], notes: Counter[str]) -> Iterator[type_span]:
    for attempt in job.get("attempts") or ():
        start, end = instant(attempt.get("start_time")), instant(attempt.get("end_time"))
        parts = _parts(job, attempt)
        if start is None or not parts or (end is not None and end < start):
            notes["attempt that was never placed, left out"] += 1
        else:
            yield start, end, parts


def _id(job: Mapping[str, Any]) -> str:
    return str(job.get("id") or job.get("jobid") or "")


def _parts(job: Mapping[str, Any], attempt: Mapping[str, Any]) -> tuple[Part, ...]:
    detail = attempt.get("detail")
    if detail:
        return tuple(Part(str(d["ip"]), len(d["gpus"]) * 1000) for d in detail if d.get("gpus"))
    gpus = job.get("num_gpus")
    return (Part(None, int(gpus) * 1000),) if gpus else ()


def _instants(spans: Iterable[type_span]) -> Iterable[int]:
    return (at for start, end, _ in spans for at in (start, end) if at is not None)


def _run(
    job: Mapping[str, Any], submitted: int, spans: Sequence[type_span], last: int, notes: Counter[str]
) -> TraceRun:
    over = bool(spans) and all(end is not None for _, end, _ in spans)
    attempts = [Attempt(start, last if end is None else end, parts) for start, end, parts in spans]
    if not spans:
        notes["job that was never placed; when it gave up is not told, so its wait counts nothing"] += 1
    elif not over:
        notes["job still running at the end of the trace, stopped there"] += 1
    status = str(job.get("status") or "")
    reason = END_REASONS.get(status, "") if over else ""
    workers = gang(submitted, attempts, reason) if spans else (_never_placed(job, submitted),)
    return TraceRun(
        uid=_id(job),
        name=_id(job),
        workers=workers,
        kind="Philly job",
        user=job.get("user") or None,
        workspace=job.get("vc") or None,
        submitted_at=submitted,
        ended_at=max(a.end for a in attempts) if over else None,
        outcome=status or None,
    )


def _never_placed(job: Mapping[str, Any], submitted: int) -> TraceWorker:
    gpus = int(job.get("num_gpus") or 0) * 1000
    states = (TraceState(submitted, Phase.PENDING, "", 1, gpus), TraceState(submitted, Phase.ENDED, "", 1))
    return TraceWorker("main", states)


def instant(text: object) -> int | None:
    """Return the ms of "2017-10-07 01:11:39" taken as UTC; None for null and "None"; raises BadTrace."""
    if text in (None, "", "None"):
        return None
    try:
        parsed = datetime.fromisoformat(str(text))
    except ValueError:
        raise BadTrace(f"not a time: {text!r}") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return round(parsed.timestamp() * 1000)
