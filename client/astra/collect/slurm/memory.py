"""What the agent remembers of Slurm's jobs: lists of squeue, records of sacct, and what was told of them already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from astra.collect.items import Item
from astra.collect.slurm.attempts import DAY, Attempt, Run, goes_on
from astra.collect.slurm.knowledge import Known
from astra.collect.slurm.mapping import Sample, State, Told, tell
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.scontrol import Node
from astra.collect.slurm.words import ALIVE

PATIENCE = 5  # so often sacct is asked for earlier attempts when it does not answer
TRIES = 20  # so often sacct is asked about an end that it does not tell


@dataclass
class Remembered:
    """A run and what was told of it. `asked`: sacct was asked for its earlier attempts. `parts` as in Run.

    `named` is when (ms) squeue named it last; `latest` its item and the latest states of its workers that live.
    """

    name: str
    parts: dict[int | None, list[Known]] = field(default_factory=dict)
    asked: bool = False
    tries: int = 0
    changed: bool = True
    sent: set[State | Sample] = field(default_factory=set)
    item: tuple[object, ...] = ()
    over: int | None = None
    named: int = 0
    latest: tuple[Item, list[Item]] | None = None

    def run(self) -> Run:
        found: dict[int | None, list[Attempt]] = {}
        for part, attempts in self.parts.items():
            last = len(attempts) - 1
            found[part] = [known.attempt(place < last) for place, known in enumerate(attempts)]
        return Run(self.name, found)

    def attempts(self) -> Iterator[Known]:
        for part in self.parts.values():
            yield from part

    @property
    def may_have_more(self) -> bool:
        """Whether it may have attempts from before it was first seen, of which only sacct knows."""
        first = next(self.attempts())
        return not self.asked and (first.last is None or first.last.restarts != 0)

    @property
    def alive(self) -> bool:
        return any(part[-1].alive for part in self.parts.values())


class Memory:
    """Takes lists and records, and says what is new of runs. Instants are ms."""

    def __init__(self, remind: Callable[[Job, Known], None] | None = None) -> None:
        """`remind` is given each attempt when it is first named, to add what was seen of it before."""
        self.remind = remind
        self.since = 0  # ms; what was over before is told already
        self.runs: dict[str, list[Remembered]] = {}
        self.nodes: dict[str, Node] = {}
        self.heard: dict[str, int] = {}

    def see(self, records: Iterable[Record], at: int) -> None:
        """Take a whole list of squeue that was asked for at the instant `at`."""
        named: set[int] = set()
        for record in records:
            made = _resized(record)
            if self._is_past(made):
                continue
            if made.asked or made.gpus or made.job.name in self.runs:
                remembered, known = self._place(made)
                named.add(id(known))
                remembered.named = at
                if made == known.now and made.state != "PENDING":
                    continue
                if known.last is None:
                    known.last = made
                    if self.remind is not None:
                        self.remind(made.job, known)
                    remembered.changed = True
                before = known.attempt(has_next=False)
                known.see(made, at)
                remembered.changed = remembered.changed or before != known.attempt(has_next=False)
        for remembered in self._all():
            for known in remembered.attempts():
                if known.now is not None and id(known) not in named:
                    known.miss(at)
                    remembered.changed = True

    def _is_past(self, record: Record) -> bool:
        """Whether it was over before this memory began, when another agent told of it."""
        over = record.state not in ALIVE and record.end is not None and record.end < self.since
        return over and record.job.name not in self.runs

    def account(self, records: Iterable[Record], since: int | None = None) -> None:
        """Take records of sacct, earlier attempts before later ones.

        `since`: they are all there are from that instant on, so that what was submitted later has no attempt before.
        """
        for record in sorted(records, key=lambda record: record.submit or record.start or 0):
            if not (record.asked or record.gpus):
                continue
            remembered, known = self._place(record)
            if known.past != record:
                known.past, remembered.changed = record, True
            if since is not None and (remembered.run().first or 0) > since:
                remembered.asked = True

    def machines(self, nodes: Iterable[Node], at: int) -> None:
        """Take the nodes as they were at the instant `at`."""
        self.nodes = {node.name: node for node in nodes}
        for remembered in self._all():
            for known in remembered.attempts():
                before = list(known.lost)
                known.hear(self.nodes, self.heard, at)
                remembered.changed = remembered.changed or before != known.lost
        self.heard.update((node.name, at) for node in self.nodes.values() if node.answers)

    def wanted(self) -> list[str]:
        """Return the jobs to ask sacct of: new ones that may have more attempts, and those whose end is unclear."""
        found: dict[str, None] = {}
        for remembered in self._all():
            unclear = remembered.tries < TRIES and any(_is_unclear(part) for part in remembered.parts.values())
            if remembered.may_have_more or unclear:
                found[remembered.name] = None
                remembered.tries += 1
        return list(found)

    def answered(self, jobs: Iterable[str], *, told: bool) -> None:
        """Note that sacct was asked for these; what it did not tell in PATIENCE questions is told without it."""
        for job in jobs:
            for remembered in self.runs.get(job, ()):
                remembered.asked = remembered.asked or told or remembered.tries >= PATIENCE

    def news(self, take: Callable[[Remembered, Told], None]) -> None:
        """Give each run of which something may be new, once, with all that is told of it.

        One that may have earlier attempts, and so another name, waits until sacct was asked.
        """
        for remembered in self._all():
            if remembered.changed and not remembered.may_have_more:
                for known in remembered.attempts():
                    known.judge_prolog(self.nodes)
                remembered.changed = False
                told = tell(remembered.run())
                remembered.over = told.ended
                take(remembered, told)

    def forget(self, at: int) -> None:
        """Forget what was over a day ago and stands in no list."""
        for name, runs in list(self.runs.items()):
            kept = [run for run in runs if run.alive or (run.over or run.named) > at - DAY]
            if kept:
                self.runs[name] = kept
            else:
                del self.runs[name]

    def alive(self) -> Iterator[Remembered]:
        """Yield the runs of which squeue names something that goes on."""
        return (remembered for remembered in self._all() if remembered.alive)

    def recent(self, since: int) -> Iterator[tuple[Job, Known]]:
        """Yield the attempts of runs that go on, or were over after an instant (ms)."""
        for remembered in self._all():
            if remembered.alive or (remembered.over or remembered.named) >= since:
                for part, attempts in remembered.parts.items():
                    yield from ((Job(remembered.name, part), known) for known in attempts)

    def _all(self) -> Iterator[Remembered]:
        for runs in list(self.runs.values()):
            yield from runs

    def _place(self, record: Record) -> tuple[Remembered, Known]:
        """Return the run and attempt that a record is of, new ones where there is none."""
        runs = self.runs.setdefault(record.job.name, [])
        for remembered in reversed(runs):
            for known in remembered.parts.get(record.job.part, ()):
                if known.submit == record.submit:
                    return remembered, known
        known = Known()
        if runs and (earlier := self._joins(runs[-1], record.job, record)) is not None:
            runs[-1].parts.setdefault(record.job.part, []).insert(earlier, known)
            return runs[-1], known
        made = Remembered(record.job.name, {record.job.part: [known]})
        runs.append(made)
        return made, known

    def _joins(self, remembered: Remembered, job: Job, record: Record) -> int | None:
        """Return at which place among the attempts of a run a record belongs, None when it is of another run."""
        attempts = remembered.parts.get(job.part)
        if not attempts:
            return 0
        place = sum((known.submit or 0) < (record.submit or 0) for known in attempts)
        if place:
            return place if goes_on(attempts[place - 1].attempt(has_next=True).record, record) else None
        first = attempts[0].attempt(has_next=False).record
        return 0 if not remembered.sent and goes_on(record, first) else None


def _is_unclear(attempts: list[Known]) -> bool:
    """Whether an attempt is over, as it is followed by another or in no list any more, and sacct did not say how."""
    over = [known for place, known in enumerate(attempts) if place < len(attempts) - 1 or known.now is None]
    return any(known.past is None or known.past.end is None for known in over)


def _resized(record: Record) -> Record:
    """Return what squeue says of a resized job as sacct does: an attempt that began with the new size."""
    if record.resized is None:
        return record
    return replace(record, submit=record.resized, eligible=None, start=record.resized, restarts=None)
