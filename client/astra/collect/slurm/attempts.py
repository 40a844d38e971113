"""Attempts of jobs and how they make runs: a requeue goes on with a run, a number that comes again does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from astra.collect.slurm.record import SECOND, Record
from astra.collect.slurm.words import ALIVE, GOES_ON, REQUEUED_BY_SLURM

HOUR = 3_600 * SECOND
DAY = 24 * HOUR
AT_ONCE = 60 * SECOND
type_stretch = tuple[int, "int | None"]


@dataclass(frozen=True)
class Attempt:
    """A record, and beside it what was seen of it with its own eyes; instants in ms.

    `begun`: the first list that showed it past its start-up; `booting`: seen in its start-up and not yet past it.
    `waits`: stretches in which it asked for GPUs (None: Eligible says so), on `spread` nodes. `pauses`: suspended.
    `lost`: (node, since, until) of nodes that were not heard. `spoilt`: its prolog failed.
    `watched`: by an agent, which saw its pauses or did not; else only their sum is known.
    """

    record: Record
    begun: int | None = None
    booting: bool = False
    waits: tuple[type_stretch, ...] | None = None
    spread: int = 0
    pauses: tuple[type_stretch, ...] = ()
    lost: tuple[tuple[str, int, int | None], ...] = ()
    spoilt: bool = False
    watched: bool = False


@dataclass
class Run:
    """A submitted job with its attempts in order, by part of a hetjob (None: it is none)."""

    name: str
    parts: dict[int | None, list[Attempt]] = field(default_factory=dict)

    @property
    def uid(self) -> str:
        """Return the number of the job and the second of its first submission: numbers come again."""
        return f"{self.name}-{(self.first or 0) // SECOND}"

    @property
    def first(self) -> int | None:
        told = [first_instant(part[0].record) for part in self.parts.values() if part]
        return min((at for at in told if at is not None), default=None)

    def records(self) -> list[Record]:
        return [attempt.record for part in self.parts.values() for attempt in part]


def first_instant(record: Record) -> int | None:
    return next((at for at in (record.submit, record.eligible, record.start, record.end) if at is not None), None)


def runs_of(records: Iterable[Record]) -> list[Run]:
    """Return the runs of a dump in the order of their first record; the same record told twice counts once."""
    found: dict[str, list[Run]] = {}
    ordered = sorted(_once(records), key=lambda record: (record.submit or record.start or 0, record.start or 0))
    for record in ordered:
        runs = found.setdefault(record.job.name, [])
        part = runs[-1].parts.get(record.job.part, []) if runs else []
        if (
            not runs
            or (part and not goes_on(part[-1].record, record))
            or (not part and not _together(runs[-1], record))
        ):
            runs.append(Run(record.job.name))
        runs[-1].parts.setdefault(record.job.part, []).append(Attempt(record))
    return [run for runs in found.values() for run in runs]


def _once(records: Iterable[Record]) -> Iterable[Record]:
    """Keep of each attempt of a job the record that tells most: the one with an end, else the last."""
    kept: dict[tuple[object, ...], Record] = {}
    for record in records:
        key = (record.job, record.submit, record.start if record.submit is None else None)
        if key not in kept or kept[key].end is None or record.end is not None:
            kept[key] = record
    return kept.values()


def _together(run: Run, record: Record) -> bool:
    """Whether a part of a hetjob that was not told yet was submitted with the others."""
    first, own = run.first, first_instant(record)
    return first is None or own is None or abs(own - first) <= DAY


def goes_on(before: Record, after: Record) -> bool:
    """Whether a later record of the same number is the next attempt, not another job with that number.

    Newer versions count the restarts. Else a job that was requeued comes back within a day, one that was over
    (an operator requeued it, or its exit code did) within an hour, of the same user.
    """
    if before.user != after.user:
        return False
    if after.restarts is not None and before.state != "RESIZING":
        return after.restarts > 0
    if before.end is None or after.submit is None:
        return True
    patience = DAY if before.state in GOES_ON | REQUEUED_BY_SLURM else HOUR
    return after.submit - before.end <= patience


def waits_on(before: Record, after: Record) -> bool:
    """Whether the next attempt asks for GPUs from the end of the one before; else it asks anew when it is eligible."""
    if before.state in GOES_ON | REQUEUED_BY_SLURM | ALIVE or before.end is None:
        return True
    return before.state in FAILED_OVER and after.submit is not None and after.submit - before.end <= AT_ONCE


FAILED_OVER = frozenset({"FAILED", "OUT_OF_MEMORY", "TIMEOUT"})


def ends(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts, each of which but the last has ended, at the latest when the next was submitted."""
    found = list(attempts)
    for place, (attempt, after) in enumerate(zip(attempts, attempts[1:])):
        if attempt.record.end is None:
            end = after.record.start if after.record.submit is None else after.record.submit
            found[place] = replace(attempt, record=replace(attempt.record, end=end))
    return found
