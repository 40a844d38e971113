"""The Philly jobs that the demo plays, as packaged in `data/` (see ATTRIBUTION.md there)."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "data" / "philly_attempts.csv"


class Job(NamedTuple):
    """A job; `submitted` and the attempts' [start, end) are ms after the begin of the trace, 2017-09-04T00:00Z."""

    id: str
    gpus: int
    submitted: int
    attempts: tuple[tuple[int, int], ...]


def jobs() -> list[Job]:
    """Return all jobs in the order of their submission."""
    with FILE.open(encoding="ascii", newline="") as lines:
        return [_job(row) for row in csv.DictReader(lines)]


def _job(row: dict[str, str]) -> Job:
    submitted = int(row["submitted"]) * 1000
    return Job(row["id"], int(row["gpus"]), submitted, _attempts(submitted, row["attempts"].split()))


def _attempts(at: int, texts: Iterable[str]) -> tuple[tuple[int, int], ...]:
    found = []
    for text in texts:
        wait, held = text.split("+")
        start = at + int(wait) * 1000
        at = start + int(held) * 1000
        found.append((start, at))
    return tuple(found)
