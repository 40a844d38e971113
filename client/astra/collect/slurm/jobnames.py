"""How Slurm's texts name a job: 4101, 4110_3 and 4110_[4-6%3] of an array, 4120+1 of a hetjob."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from astra.collect.slurm import values
from astra.collect.slurm.record import Job, Record


def number(raw: str, name: str) -> int:
    """Return a job's own number: `raw` where that is one, else what its name begins with. Raises ValueError."""
    own = raw if raw.isdecimal() else name.partition("_")[0].partition("+")[0]
    if not own.isdecimal():
        raise ValueError(f"{name!r} is no number of a job")
    return int(own)


def named(made: Record, name: str) -> Iterator[Record]:
    """Yield a record for each job that a name stands for: those of an array that wait together are told in one line."""
    array, bracket, several = name.partition("_[")
    if bracket:
        yield from (replace(made, job=Job(f"{array}_{task}")) for task in values.tasks(several))
        return
    leader, plus, part = name.partition("+")
    yield replace(made, job=Job(leader, int(part) if plus else None))
