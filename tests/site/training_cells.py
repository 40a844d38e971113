"""What a gang's cells must be, from what its workers wrote down and what was said of them, without the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

HOUR_MS = 3_600_000
CATEGORIES = {"running": "productive", "failed": "failure", "starting": "restart"}

Cells = dict[tuple[int, str], dict[str, int]]


class Said(NamedTuple):
    """From `at` (ms) on a worker is in this phase, on this machine."""

    at: int
    phase: str
    machine: str


class Part(NamedTuple):
    """A stretch [since, until) of a worker's time, in ms."""

    since: int
    until: int
    machine: str
    category: str


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def parts(said: Sequence[Said], reports: Sequence[dict[str, Any]], stall_after: int) -> Iterator[Part]:
    """Cut a worker's life at its phases, and its running where it made no progress for too long (ms)."""
    for (since, phase, machine), (until, _, _) in zip(said, said[1:], strict=False):
        at = since
        for begins, ends in stalls(since, until, reports, stall_after) if phase == "running" else ():
            yield Part(at, begins, machine, CATEGORIES[phase])
            yield Part(begins, ends, machine, "stalled")
            at = ends
        yield Part(at, until, machine, CATEGORIES[phase])


def stalls(since: int, until: int, reports: Sequence[dict[str, Any]], stall_after: int) -> Iterator[tuple[int, int]]:
    """Find where the same step was told again too long after it was reached, within [since, until)."""
    last, reached, proven, pace = None, 0, False, 0.0
    for report in reports:
        at = ms(report["at"])
        pace = report.get("step_seconds", pace)
        if report["step"] != last:
            if proven:
                yield reached, min(at, until)
            last, reached, proven = report["step"], at, False
        elif since <= reached and at < until and at - reached > max(stall_after, pace * 5_000):
            proven = True
    if proven:
        yield reached, until


def cells(lives: Sequence[Sequence[Part]], gpus_milli: int) -> Cells:
    """Add up GPU-microseconds by (hour in ms, machine) and category."""
    found: dict[tuple[int, str], Counter[str]] = {}
    for part in (part for life in lives for part in life):
        for hour in range(part.since // HOUR_MS * HOUR_MS, part.until, HOUR_MS):
            spent = min(part.until, hour + HOUR_MS) - max(part.since, hour)
            if spent:
                found.setdefault((hour, part.machine), Counter())[part.category] += gpus_milli * spent
    return {key: dict(sums) for key, sums in found.items()}
