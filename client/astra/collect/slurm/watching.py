"""The agent's loop: asks squeue again and again, sacct and scontrol less often, and tells what changed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Protocol

from astra.collect.items import Items
from astra.collect.slurm.knowledge import Known
from astra.collect.slurm.memory import Memory
from astra.collect.slurm.messages import Messages
from astra.collect.slurm.notebook import Notebook, key, remind
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.scontrol import Node
from astra.collect.source import Put, SourceError

log = logging.getLogger("astra.collect")

PAUSE_MAX = 60.0
NOTES_SECONDS = 5.0
OVERLAP = timedelta(minutes=5)
SECOND = 1000


class Slurm(Protocol):
    """What the loop needs of Slurm: its programs, or a stand-in for them."""

    def queue(self) -> tuple[list[Record], bool]:
        """Return the jobs, and whether all of them could be read."""
        ...

    def accounted(self, since: datetime) -> list[Record]: ...
    def jobs(self, names: list[str]) -> list[Record]: ...
    def nodes(self) -> list[Node]: ...


@dataclass(frozen=True)
class Pace:
    """How often each is asked, in seconds; `back`: how far the first question to the accounting goes."""

    queue: float = 2.0
    nodes: float = 10.0
    accounts: float = 60.0
    whole: float = 300.0
    back: timedelta = timedelta(days=1)


class SlurmSource:
    """A Slurm cluster as a source. `clock` gives this instant (with its zone)."""

    def __init__(
        self,
        cluster: str,
        slurm: Slurm,
        workspaces: Mapping[str, str],
        pace: Pace = Pace(),
        clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        notebook: Notebook | None = None,
    ) -> None:
        self.name, self.seeing = f"slurm/{cluster}", True
        self.slurm, self.pace, self.clock = slurm, pace, clock
        self.notebook = notebook
        self.seen, reach = ({}, 0) if notebook is None else notebook.read()
        self.memory = Memory(self._remind)
        self.messages = Messages(self.memory, workspaces)
        self.reach: datetime | None = None
        if reach:
            self.reach = datetime.fromtimestamp(reach / SECOND, timezone.utc)
            self.memory.since = _ms(self.reach - OVERLAP)
        self.next = {"nodes": 0.0, "accounts": 0.0, "whole": 0.0, "notes": 0.0}
        self.said, self.complete = "", True

    def look(self) -> Items:
        """Return one full list: what lives now, and what the accounting has of the time before. Raises SourceError."""
        found = self.step(0.0)
        whole = self.messages.whole(_ms(self.clock()), complete=self.complete)
        if found is None:
            return whole
        told = {(str(item["run"]), str(item["worker"])) for item in found.workers}
        named = [item for item in whole.workers if (str(item["run"]), str(item["worker"])) not in told]
        runs = {str(item["uid"]): item for item in (*whole.runs, *found.runs)}
        return Items(
            whole.at, whole.machines, tuple(runs.values()), (*found.workers, *named), found.readings, self.complete
        )

    def run(self, put: Put, stop: threading.Event) -> None:
        """Ask and tell until `stop`. What is away is asked again with growing pauses."""
        pause = self.pace.queue
        while not stop.is_set():
            began = time.monotonic()
            try:
                for items in self.steps(began):
                    put(items)
                pause, self.seeing = self.pace.queue, True
                self._trouble("")
            except SourceError as error:
                pause, self.seeing = min(PAUSE_MAX, max(pause * 2, 1.0)), False
                self._trouble(str(error))
            took = time.monotonic() - began
            stop.wait(max(took, pause - took))  # a question that takes long is asked less often

    def steps(self, monotonic: float) -> list[Items]:
        """Ask once; return what is new, and when it is time the whole list."""
        found = self.step(monotonic)
        self._note(monotonic)
        told = [] if found is None else [found]
        if monotonic >= self.next["whole"]:
            self.next["whole"] = monotonic + self.pace.whole
            told.append(self.messages.whole(_ms(self.clock()), complete=self.complete))
        return told

    def step(self, monotonic: float) -> Items | None:
        """Ask what is due and return what is new. Raises SourceError when the queue cannot be asked."""
        at = self.clock()
        queue, self.complete = self.slurm.queue()
        if monotonic >= self.next["nodes"]:
            self._nodes(at)
            self.next["nodes"] = monotonic + self.pace.nodes
        self.memory.see(queue, _ms(at))
        if monotonic >= self.next["accounts"]:
            self._accounts(at)
            self.next["accounts"] = monotonic + self.pace.accounts
        self._ask(self.memory.wanted())
        self.memory.forget(_ms(at))
        return self.messages.news(_ms(at))

    def _remind(self, job: Job, known: Known) -> None:
        seen = self.seen.pop(key(job, known), None)
        if seen:
            remind(known, seen)

    def _note(self, monotonic: float) -> None:
        if self.notebook is not None and monotonic >= self.next["notes"]:
            self.next["notes"] = monotonic + NOTES_SECONDS
            reach = 0 if self.reach is None else _ms(self.reach)
            self.notebook.write(self.memory, reach, _ms(self.clock()))

    def _nodes(self, at: datetime) -> None:
        try:
            self.memory.machines(self.slurm.nodes(), _ms(at))
        except SourceError as error:
            self._trouble(str(error))

    def _accounts(self, at: datetime) -> None:
        """Take the records since the last time; a cluster that keeps none is told by its queue alone."""
        since = at - self.pace.back if self.reach is None else self.reach - OVERLAP
        try:
            self.memory.account(self.slurm.accounted(since), _ms(since))
            self.reach = at
        except SourceError as error:
            self._trouble(str(error))

    def _ask(self, names: list[str]) -> None:
        if not names:
            return
        told = False
        try:
            self.memory.account(self.slurm.jobs(names))
            told = True
        except SourceError as error:
            self._trouble(str(error))
        self.memory.answered(names, told=told)

    def _trouble(self, said: str) -> None:
        """Say a trouble once, until it is over or another."""
        if said and said != self.said:
            log.warning("%s", said)
        self.said = said


def _ms(at: datetime) -> int:
    """Return the second of an instant, as ms: Slurm's own times are whole seconds, and none is to lie before them."""
    return int(at.timestamp()) * SECOND
