"""What every trace comes down to: runs, their workers and the states they went through. Instants are UTC ms."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ledger.batches import Batch, RunItem, WorkerItem
from ledger.core.categories import HELD, Phase
from ledger.core.windows import floor_hour

ITEMS_PER_BATCH = 5_000


class BadTrace(ValueError):
    """The file is not what its format says; the text is one sentence for a person."""


class TraceState(NamedTuple):
    """A state as the trace tells it; None and "" = not told."""

    at: int
    phase: Phase
    reason: str = ""
    attempt: int | None = None
    gpus_milli: int | None = None
    machine: str | None = None
    pool: str | None = None


class TraceWorker(NamedTuple):
    name: str
    states: tuple[TraceState, ...]


class TraceRun(NamedTuple):
    uid: str
    name: str
    workers: tuple[TraceWorker, ...]
    kind: str | None = None
    user: str | None = None
    workspace: str | None = None
    submitted_at: int | None = None
    ended_at: int | None = None
    outcome: str | None = None


class Part(NamedTuple):
    """What an attempt holds on one machine (None: the trace does not say which)."""

    machine: str | None
    gpus_milli: int


class Attempt(NamedTuple):
    """One placement of a whole gang, [start, end)."""

    start: int
    end: int
    parts: tuple[Part, ...]


class Amounts(NamedTuple):
    """GPU-microseconds: held, waited for the first placement, waited between attempts."""

    held: int = 0
    first_wait: int = 0
    between: int = 0

    def plus(self, other: "Amounts") -> "Amounts":
        return Amounts(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass
class Trace:
    """A whole file: its runs, its span, and what was left out or read in a way that a person should know."""

    runs: list[TraceRun]
    first: int
    last: int
    has_calendar: bool = True
    notes: Counter[str] = field(default_factory=Counter)

    def amounts(self) -> Amounts:
        """Return what the file itself says was held and waited for, without the ledger."""
        total = Amounts()
        for run in self.runs:
            for worker in run.workers:
                total = total.plus(amounts_of(worker))
        return total


def amounts_of(worker: TraceWorker) -> Amounts:
    """Add up a worker's states, each holding until the next one."""
    held = first = between = gpus = 0
    placed = False
    for state, after in zip(worker.states, worker.states[1:], strict=False):
        gpus = gpus if state.gpus_milli is None else state.gpus_milli
        amount = (after.at - state.at) * gpus
        if state.phase in HELD:
            held, placed = held + amount, True
        elif state.phase is Phase.PENDING:
            first, between = (first, between + amount) if placed else (first + amount, between)
    return Amounts(held, first, between)


def gang(submitted: int, attempts: Sequence[Attempt], end_reason: str) -> tuple[TraceWorker, ...]:
    """Return the workers of a job: the k-th one is the k-th part of each attempt.

    A worker waits from the submission, and between attempts from the end of the one before; that wait is a
    failure's. A worker for which an attempt has no part has ended until one has again.
    """
    width = max((len(a.parts) for a in attempts), default=0)
    names = ["main"] if width == 1 else [f"worker-{k}" for k in range(width)]
    return tuple(TraceWorker(name, _member(k, submitted, attempts, end_reason)) for k, name in enumerate(names))


def _member(k: int, submitted: int, attempts: Sequence[Attempt], end_reason: str) -> tuple[TraceState, ...]:
    states: list[TraceState] = []
    free_at, here = submitted, False
    for number, attempt in enumerate(attempts, 1):
        waits_from = min(free_at, attempt.start)
        if k < len(attempt.parts):
            machine, gpus = attempt.parts[k]
            why = "failure" if number > 1 else ""
            states += [
                TraceState(waits_from, Phase.PENDING, why, number, gpus),
                TraceState(attempt.start, Phase.RUNNING, "", number, gpus, machine),
            ]
            here = True
        elif here:
            states.append(TraceState(waits_from, Phase.ENDED, "scale_down"))
            here = False
        free_at = attempt.end
    if here:
        states.append(TraceState(free_at, Phase.ENDED, end_reason, len(attempts)))
    return tuple(states)


def whole_hours(last: int, end: int) -> int:
    """Return the shift in ms, whole hours, that moves the instant `last` into the last hour up to `end`."""
    return floor_hour(end - last)


def batches(
    trace: Trace, *, source: str, shift: int, workspace: str | None, items: int = ITEMS_PER_BATCH
) -> Iterator[tuple[int, Batch]]:
    """Yield (runs in it, batch) in the order of the trace, each run whole and in one batch.

    Each batch says that everything was watched from the beginning of the trace to its end. A run's own
    workspace is taken unless one is given. A run with more than `items` states makes a batch of its own.
    """
    pending: list[TraceRun] = []
    size = 0
    for run in trace.runs:
        states = sum(len(w.states) for w in run.workers) + 1
        if pending and size + states > items:
            yield len(pending), batch_of(pending, trace, source, shift, workspace)
            pending, size = [], 0
        pending.append(run)
        size += states
    if pending:
        yield len(pending), batch_of(pending, trace, source, shift, workspace)


def batch_of(runs: Iterable[TraceRun], trace: Trace, source: str, shift: int, workspace: str | None) -> Batch:
    """Return one batch of whole runs, every instant shifted by `shift` ms."""
    batch = Batch(source=source, sent_at=trace.last + shift, seen_from=trace.first + shift)
    for run in runs:
        batch.runs.append(run_item(len(batch.runs), run, shift, workspace))
        for worker in run.workers:
            batch.named.add((run.uid, worker.name))
            for state in worker.states:
                batch.workers.append(worker_item(len(batch.workers), run.uid, worker.name, state, shift))
    return batch


def run_item(index: int, run: TraceRun, shift: int = 0, workspace: str | None = None) -> RunItem:
    return RunItem(
        index=index,
        uid=run.uid,
        workspace=workspace or run.workspace,
        name=run.name,
        kind=run.kind,
        user=run.user,
        submitted_at=_shifted(run.submitted_at, shift),
        ended_at=_shifted(run.ended_at, shift),
        outcome=run.outcome,
        min_goodput_milli=None,
    )


def worker_item(index: int, run: str, worker: str, state: TraceState, shift: int = 0) -> WorkerItem:
    pool = "" if state.machine is not None and state.pool is None else state.pool
    return WorkerItem(
        index=index,
        run=run,
        worker=worker,
        at=state.at + shift,
        phase=state.phase,
        reason=state.reason,
        attempt=state.attempt,
        gpus_milli=state.gpus_milli,
        machine=state.machine,
        pool=pool,
        stalled=None,
    )


def _shifted(at: int | None, shift: int) -> int | None:
    return None if at is None else at + shift
