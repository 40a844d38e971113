"""What `manage.py replay` does with a file: read it, find its place in time, send it, and sum up."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db.models import F, QuerySet, Sum

from ledger.batches import Batch
from ledger.core.categories import Category
from ledger.core.postings import LINES
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, MAX_DAYS
from ledger.decode import values
from ledger.management import slurm
from ledger.models import Cluster, LedgerHour, OpenCell, Run
from ledger.replay import acme, observations, openb, philly
from ledger.replay.trace import (
    ITEMS_PER_BATCH,
    Amounts,
    BadTrace,
    Trace,
    TraceState,
    TraceWorker,
    amounts_of,
    batches,
    whole_hours,
)

TRACES = {"philly": philly.read, "alibaba-openb": openb.read, "acme": acme.read}
SACCT, OBSERVATIONS = "sacct", "observations"
FORMATS = (*TRACES, SACCT, OBSERVATIONS)
NOW, AS_IS = "now", "as-is"
LOOKED_UP = 500  # runs of a file that are looked for, to find a replay that was broken off


@dataclass(frozen=True)
class Told:
    """A file that was read: the runs and instants it tells, and how to make its batches once they are shifted.

    `uids` and `submitted` (ms, None: not told) are those of its runs; `says` is what it says of itself, for traces.
    """

    format: str
    uids: tuple[str, ...]
    submitted: tuple[int | None, ...]
    first: int
    last: int
    has_calendar: bool
    notes: Counter[str]
    says: Amounts | None
    trace: Trace | None
    parts: tuple[Batch, ...]

    @property
    def has_workspaces(self) -> bool:
        if self.trace is not None:
            return any(run.workspace for run in self.trace.runs)
        return self.format == OBSERVATIONS or any(item.workspace for batch in self.parts for item in batch.runs)

    @property
    def has_readings(self) -> bool:
        """Whether its cluster has GPU readings: accounting and traces tell none."""
        return self.format == OBSERVATIONS

    def batches(self, shift: int, workspace: str | None, items: int = ITEMS_PER_BATCH) -> Iterator[tuple[int, Batch]]:
        """Yield (runs, or items of a file of observations, in it; batch), moved by `shift` ms."""
        if self.trace is not None:
            source = f"replay/{self.format}"
            yield from batches(self.trace, source=source, shift=shift, workspace=workspace, items=items)
            return
        for batch in self.parts:
            yield _items(batch), observations.shifted(batch, shift, workspace)

    @property
    def total(self) -> int:
        """How many runs or items `batches` yields in all."""
        return len(self.uids) if self.trace is not None else sum(_items(batch) for batch in self.parts)


def _items(batch: Batch) -> int:
    return len(batch.machines) + len(batch.runs) + len(batch.workers) + len(batch.readings)


def read(path: Path, kind: str, zone: str | None = None) -> Told:
    """Read a file of the format `kind`, with its times in `zone`. Raises CommandError when it cannot be read."""
    try:
        if kind == SACCT:
            return _of_accounting(slurm.read(path, zone))
        body = path.read_bytes()
        return (
            _of_trace(kind, TRACES[kind](body)) if kind in TRACES else _of_observations(list(observations.read(body)))
        )
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    except BadTrace as error:
        raise CommandError(f"{path}: {error}") from None


def _of_trace(kind: str, told: Trace) -> Told:
    uids = tuple(run.uid for run in told.runs)
    submitted = tuple(run.submitted_at for run in told.runs)
    return Told(kind, uids, submitted, told.first, told.last, told.has_calendar, told.notes, told.amounts(), told, ())


def _of_observations(parts: list[Batch]) -> Told:
    runs = {item.uid: item.submitted_at for batch in parts for item in batch.runs}
    first, last = observations.span(parts)
    return Told(
        "observations", tuple(runs), tuple(runs.values()), first, last, True, Counter(), None, None, tuple(parts)
    )


def _of_accounting(told: slurm.Accounting) -> Told:
    """Return a dump of sacct: held time is what its records say, waits what the observations made of them do."""
    parts = observations.whole_runs(list(observations.read(told.body)), f"replay/{SACCT}", ITEMS_PER_BATCH)
    lanes: dict[tuple[str, str], list[TraceState]] = {}
    for item in (item for batch in parts for item in batch.workers):
        state = TraceState(item.at, item.phase, item.reason, item.attempt, item.gpus_milli)
        lanes.setdefault((item.run, item.worker), []).append(state)
    said = Amounts()
    for (_, worker), states in lanes.items():
        said = said.plus(amounts_of(TraceWorker(worker, tuple(states))))
    plain = _of_observations(parts)
    return replace(plain, format=SACCT, notes=told.notes, says=said._replace(held=told.held))


def default_end(told: Told, now: int) -> str:
    """Return where a file goes when nobody says: observations stay, and accounting that is not too old."""
    kept = now - MAX_DAYS * DAY < told.last <= now
    return AS_IS if told.format == OBSERVATIONS or (told.format == SACCT and kept) else NOW


def shift_for(told: Told, end_at: str, found: int | None, now: int) -> int:
    """Return by how many ms, whole hours, the file is moved.

    `found` is the shift of an earlier replay of the same runs into this cluster, which goes on; None: there is none.
    Raises CommandError when that and `end_at` cannot both be.
    """
    if end_at == AS_IS and not told.has_calendar:
        raise CommandError("this trace counts seconds from its start and has no calendar: --end-at now, or an instant")
    if end_at == NOW:
        return whole_hours(told.last, now) if found is None else found
    wanted = 0 if end_at == AS_IS else whole_hours(told.last, instant(end_at))
    if found is not None and found != wanted:
        raise CommandError(
            "runs of this file are in this cluster already, at another time. They cannot be at two: "
            "leave --end-at out to go on with them, or name another cluster"
        )
    return wanted


def instant(text: str) -> int:
    """Return the ms of an instant given by a person. Raises CommandError."""
    try:
        return values.instant(text)
    except ValueError as error:
        raise CommandError(f'"{text}" {error}') from None


def shift_found(told: Told, cluster: Cluster) -> int | None:
    """Return the shift at which runs of this file are in the cluster already, None when none is."""
    known = dict(zip(told.uids[:LOOKED_UP], told.submitted, strict=False))
    runs = Run.objects.filter(cluster=cluster, uid__in=list(known))
    for uid, submitted_at in runs.values_list("uid", "submitted_at"):
        then = known[uid]
        if then is not None and submitted_at is not None:
            return round(submitted_at.timestamp() * 1000) - then
    return None


def refuse_what_is_too_old(told: Told, shift: int, now: int) -> None:
    """Raise CommandError when nothing of the file could be kept, where its items would be refused one by one."""
    if told.last + shift < now - MAX_DAYS * DAY:
        raise CommandError(
            f"the file ends more than {MAX_DAYS} days ago, and hours so old are not kept: "
            "--end-at now moves it by whole hours"
        )


def counted(cluster: Cluster, uids: Iterable[str]) -> Ledger:
    """Return what the ledger has for these runs of the cluster, up to where it is counted."""
    cluster.refresh_from_db(fields=["open_hour", "counted_until"])
    until = cluster.counted_until or cluster.open_hour
    elapsed = max(0, (until - cluster.open_hour) // timedelta(milliseconds=1))
    wanted = {"cluster": cluster, "run__uid__in": list(uids)}
    closed = {line: Sum(line) for line in LINES}
    running = {line: Sum(F(f"a_{line}") + F(f"g_{line}") * elapsed) for line in LINES}
    return _ledger(LedgerHour.objects.filter(**wanted), closed) + _ledger(OpenCell.objects.filter(**wanted), running)


def _ledger(cells: QuerySet[Any], sums: Mapping[str, Sum]) -> Ledger:
    """Return the ledger of cells; those of machine 0 are not held."""
    every = {line: int(value or 0) for line, value in cells.aggregate(**sums).items()}
    held = {line: int(value or 0) for line, value in cells.exclude(machine=0).aggregate(**sums).items()}
    lines = [category.label for category in Category]
    return Ledger(
        tuple(every[line] for line in lines),
        tuple(held[line] for line in lines),
        every["unobserved"],
        every["unobserved_productive"],
    )
