"""From a run's attempts to what is told of it: pure, each fact with Slurm's own time.

The held time of an attempt is [Start, End), as sacct and sreport count it. See `words.py` for what each state means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from astra.collect.slurm import gpus
from astra.collect.slurm.attempts import Attempt, Run, ends, waits_on
from astra.collect.slurm.record import SECOND, Record
from astra.collect.slurm.words import ALIVE, GOES_ON, PAUSED, PROLOG, STATES, Meaning, is_held_back

START_UP_MAX = 30 * 60 * SECOND  # a first step that comes later says nothing of the start-up
FOREVER = 1 << 62
IDLE, BUSY = 0, 100
NOTHING = Meaning("")


class State(NamedTuple):
    """What is told of a worker from an instant on; GPUs None: not told. `pool` is told with a wait and a machine."""

    worker: str
    at: int
    phase: str
    reason: str = ""
    attempt: int = 1
    gpus: int | None = None
    machine: str = ""
    pool: str = ""


class Sample(NamedTuple):
    """A reading: suspended GPUs are idle, resumed ones busy until a reading of theirs says otherwise."""

    worker: str
    at: int
    busy: int


@dataclass
class Told:
    """All that is told of a run, and when it is over `ended` (ms) and `outcome`, a state of Slurm's."""

    run: Run
    states: list[State] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    ended: int | None = None
    outcome: str = ""


def tell(run: Run, until: int | None = None) -> Told:
    """Return what is told of a run. `until` (ms): nothing is known after it, and what still goes on stops there."""
    told = Told(run)
    for part, attempts in run.parts.items():
        _Gang(part, until, told).tell(ends(attempts))
    told.states.sort(key=lambda state: (state.worker, state.at, state.attempt))
    told.samples.sort(key=lambda sample: (sample.worker, sample.at))
    _conclude(told)
    return told


def _conclude(told: Told) -> None:
    last = [attempts[-1].record for attempts in told.run.parts.values()]
    if all(record.state not in ALIVE | GOES_ON and record.end is not None for record in last):
        told.ended = max(record.end or 0 for record in last)
        told.outcome = next((record.state for record in last if record.state != "COMPLETED"), "COMPLETED")


class _Gang:
    """The workers of one part of a run: the k-th is the k-th node of each attempt's allocation."""

    def __init__(self, part: int | None, until: int | None, told: Told) -> None:
        self.prefix = "node-" if part is None else f"het{part}-node-"
        self.until, self.told = until, told
        self.here: dict[int, int] = {}  # workers that ask for GPUs or hold some, and their thousandths
        self.idle: set[int] = set()

    def tell(self, attempts: list[Attempt]) -> None:
        before: Record | None = None
        for number, attempt in enumerate(attempts, 1):
            after = attempts[number].record if number < len(attempts) else None
            record = attempt.record
            if before is not None and waits_on(before, record):
                self._wait_again(number, before, attempts[number - 2], attempt)
            else:
                self._wait(number, attempt)
            if record.placed:
                self._hold(number, attempt, before)
            self._leave(number, attempt, after)
            before = record

    def _say(
        self, k: int, at: int, phase: str, reason: str = "", attempt: int = 1, record: Record | None = None
    ) -> None:
        amount, machine = self.here.get(k), ""
        if record is not None and phase in ("starting", "running"):
            machine = record.nodes[k]
        pool = record.partition if record is not None else ""
        told = None if record is None else amount
        self.told.states.append(State(f"{self.prefix}{k}", at, phase, reason, attempt, told, machine, pool))

    def _ask(self, at: int, number: int, attempt: Attempt, reason: str = "") -> None:
        """Say that the workers wait from an instant on, each for its share of what was asked for."""
        record = attempt.record
        shares = gpus.split(record.asked, attempt.spread or record.width or 1)
        for k, amount in enumerate(shares):
            if amount:
                self.here[k] = amount
                self._say(k, at, "pending", reason, number, record)
        self._drop([k for k in self.here if k >= len(shares) or not shares[k]], at, number)

    def _drop(self, workers: list[int], at: int, number: int, reason: str = "scale_down") -> None:
        for k in workers:
            del self.here[k]
            self._say(k, at, "ended", reason, number)

    def _wait(self, number: int, attempt: Attempt) -> None:
        record = attempt.record
        waits = _waits(record) if attempt.waits is None else attempt.waits
        for begin, end in waits:
            self._ask(begin, number, attempt)
            if end is not None and not (record.placed and end == waits[-1][1]):
                self._drop(list(self.here), end, number, STATES.get(record.state, NOTHING).reason)

    def _wait_again(self, number: int, before: Record, last: Attempt, attempt: Attempt) -> None:
        if before.state != "RESIZING" and before.end is not None:
            self._ask(before.end, number, attempt, _cause(last))

    def _hold(self, number: int, attempt: Attempt, before: Record | None) -> None:
        record, start = attempt.record, start_of(attempt.record)
        began = start if before is not None and before.state == "RESIZING" else began_at(attempt)
        self._drop([k for k in self.here if k >= len(record.held) or not record.held[k]], start, number)
        for k, amount in enumerate(record.held):
            if not amount:
                continue
            self.here[k] = amount
            if began is None or began > start:
                self._say(k, start, "starting", "", number, record)
            if began is not None and began <= max(start, _over(record)):
                self._say(k, began, "running", "", number, record)
                self._pause(k, began, attempt)
            self._trouble(k, number, attempt, start)

    def _trouble(self, k: int, number: int, attempt: Attempt, start: int) -> None:
        """Say that other work is to have its GPUs, or that its node is not heard."""
        record = attempt.record
        end = record.end
        if record.preempted is not None and start <= record.preempted and (end is None or record.preempted < end):
            self._say(k, record.preempted, "stopping", "preemption", number)
        for node, since, until in attempt.lost:
            if node == record.nodes[k] and (end is None or since < end):
                self._say(k, max(start, since), "lost", "node_lost", number)
                if until is not None and (end is None or until < end):
                    self._say(k, until, "running", "", number, record)

    def _pause(self, k: int, began: int, attempt: Attempt) -> None:
        name = f"{self.prefix}{k}"
        if k in self.idle:
            self.told.samples.append(Sample(name, began, BUSY))
            self.idle.discard(k)
        for begin, end in _pauses(attempt):
            self.told.samples.append(Sample(name, begin, IDLE))
            self.idle.add(k)
            if end is not None and end != attempt.record.end:
                self.told.samples.append(Sample(name, end, BUSY))
                self.idle.discard(k)

    def _leave(self, number: int, attempt: Attempt, after: Record | None) -> None:
        record, end = attempt.record, end_of(attempt.record, self.until)
        if end is None or (after is not None and waits_on(record, after)):
            return
        meaning = STATES.get(record.state, NOTHING)
        if record.state == "COMPLETING":
            for k in self.here if record.placed else ():
                self._say(k, end, "stopping", "", number)
            return
        if record.state in GOES_ON and after is None:
            self._queue_again(number, attempt, end)
            return
        self._drop(list(self.here), end, number, meaning.reason if record.end is not None else "")

    def _queue_again(self, number: int, attempt: Attempt, end: int) -> None:
        """Say that a requeued job waits, of which nothing more is known."""
        for k in sorted(self.here):
            self._say(k, end, "pending", _cause(attempt), number + 1, attempt.record)
        if self.until is not None:
            self._drop(list(self.here), max(end, self.until), number + 1, "")


def _over(record: Record) -> int:
    """Return the last instant at which it may have begun to work: it was not over yet, nor told to stop."""
    return min((at for at in (record.end, record.preempted) if at is not None), default=FOREVER)


def start_of(record: Record) -> int:
    """Return when it began to hold its GPUs; a Start that is further back than it ran is not believed."""
    assert record.start is not None, "only what was placed has a start"
    if record.end is None or record.lasted is None:
        return record.start
    return max(record.start, record.end - record.lasted)


def end_of(record: Record, until: int | None) -> int | None:
    """Return when it was over; of what goes on at the end of a dump, how far the dump knows of it."""
    start = start_of(record) if record.placed else None
    end = record.end
    if end is None and until is not None:
        end = until if start is None or record.lasted is None else start + record.lasted
    return end if end is None or start is None else max(start, end)


def began_at(attempt: Attempt) -> int | None:
    """Return when its own work began: its first numbered step, else when its prolog was seen to be over, else Start."""
    record, start = attempt.record, start_of(attempt.record)
    told = [attempt.begun] if attempt.begun is not None else []
    if record.step is not None and start <= record.step <= start + START_UP_MAX:
        told.append(record.step)
    if told:
        return max(start, min(told))
    in_start_up = record.state == "CONFIGURING" or (record.state == "RUNNING" and record.reason == PROLOG)
    return None if attempt.booting or in_start_up else start


def _waits(record: Record) -> tuple[tuple[int, int | None], ...]:
    """Return when it asked for GPUs by what its record tells: from Eligible on."""
    if record.eligible is None or (record.state == "PENDING" and is_held_back(record.reason)):
        return ()
    end = start_of(record) if record.placed else record.end
    return () if end is not None and record.eligible >= end else ((record.eligible, end),)


def _pauses(attempt: Attempt) -> Iterator[tuple[int, int | None]]:
    """Yield when it was suspended; where only the sum is told, it is laid at the end.

    It may have ended before it was seen to go on: then that sum says when the pause that nobody saw end was over.
    """
    record, pauses = attempt.record, attempt.pauses
    if not record.suspended or record.end is None or (attempt.watched and not pauses):
        yield from pauses
    elif pauses:
        yield from pauses[:-1]
        yield _closed(pauses, record.suspended * SECOND, record.end)
    elif record.state not in PAUSED:
        yield record.end - record.suspended * SECOND, record.end


def _closed(pauses: Sequence[tuple[int, int | None]], suspended: int, end: int) -> tuple[int, int | None]:
    """Return the last pause, closed where it was not seen to end and the sum of all, ms, says when it was over."""
    since, until = pauses[-1]
    over = since + suspended - sum((to or since) - begin for begin, to in pauses[:-1])
    return (since, over) if until is None and since < over < end else (since, until)


def _cause(attempt: Attempt) -> str:
    """Return why an attempt was queued again, "" while that is not known."""
    record = attempt.record
    if attempt.spoilt:
        return "failure"
    return "preemption" if record.preempted is not None else STATES.get(record.state, NOTHING).again
