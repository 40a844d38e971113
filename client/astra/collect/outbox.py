"""The way of what a source says to the server: spooled to disk, then delivered in order until it has arrived."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from astra.collect.asides import Asides
from astra.collect.batches import LIST, READINGS, STATES, Limits, Record, batch_of, halves, merged, records
from astra.collect.delivery import Delivery, Fate, Outcome
from astra.collect.items import Items, now
from astra.collect.spool import Dropped, Spool, SpoolBroken

log = logging.getLogger("astra.collect")

WORD_SECONDS = 60.0
READINGS_SECONDS = 60.0
GATHER_SECONDS = 0.25
PAUSE_FIRST, PAUSE_MAX, PAUSE_SLOW = 0.5, 30.0, 60.0
SIZE_MIN = 16 * 1024
WAITING_BYTES_MAX = 64 * 1024 * 1024


@dataclass
class Told:
    """What has been done since the agent began: items, batches, and instants."""

    items: int = 0
    batches: int = 0
    duplicate: int = 0
    late: int = 0
    refused: int = 0
    aside: int = 0
    dropped_readings: int = 0
    dropped_states: int = 0
    failures: int = 0
    succeeded_at: datetime | None = None
    trouble: str = ""


class Outbox:
    """Takes what a source says and delivers it. `put` may be called from any thread, is quick and keeps its order.

    `sees` says whether the source is being watched: only then the outbox gives its word when the source is quiet.
    Two threads: one writes what was put to the disk and gives the word, the other sends what is on the disk. Made
    again after a crash, a batch may hold more than it did before; its word is the newest instant in it, which is true.
    """

    def __init__(
        self,
        name: str,
        spool: Spool,
        delivery: Delivery,
        *,
        sees: Callable[[], bool] = lambda: True,
        word_seconds: float = WORD_SECONDS,
        readings_seconds: float = READINGS_SECONDS,
    ) -> None:
        self.name, self.spool, self.delivery, self.sees = name, spool, delivery, sees
        self.word_seconds, self.readings_seconds = word_seconds, readings_seconds
        self.told, self.asides, self.limits = Told(), Asides(spool.folder), Limits()
        self.waiting: deque[Record] = deque()
        self.sent: list[int] = []
        self.lock, self.wake, self.closing = threading.Lock(), threading.Event(), threading.Event()
        self.spoke, self.read, self.pause = time.monotonic(), time.monotonic(), 0.0
        self.stuck = self.closed = False
        self.writer = threading.Thread(target=self._write, name="spool", daemon=True)
        self.sender = threading.Thread(target=self._send, name="delivery", daemon=True)

    def start(self) -> None:
        self.writer.start()
        self.sender.start()

    def put(self, items: Items) -> None:
        """Take what a source says; within a quarter of a second it is on the disk."""
        told = records(items, self.limits)
        with self.lock:
            self.waiting.extend(told)
            self.spoke = time.monotonic()

    def close(self, seconds: float) -> bool:
        """Send what is there for so long at most; return whether nothing is left. What is left stays on the disk."""
        self.closing.set()
        self.wake.set()
        until = time.monotonic() + seconds
        self.writer.join(seconds)
        self.sender.join(max(0.1, until - time.monotonic()))
        return not self.waiting and not self.spool.held().records

    # the writer: from memory to disk

    def _write(self) -> None:
        while not self.closing.wait(GATHER_SECONDS):
            self._speak()
            self._store()
        self._store()
        self.wake.set()

    def _speak(self) -> None:
        """Give the source's word when it has been quiet for long and is being watched."""
        if time.monotonic() - self.spoke >= self.word_seconds - 2 * GATHER_SECONDS and self.sees():
            self.put(Items(now()))

    def _store(self) -> None:
        with self.lock:
            told = list(self.waiting)
        if not told:
            return
        stored = set(told)
        try:
            dropped = self.spool.append(told)
        except SpoolBroken as error:
            self._cannot_store(str(error))
            return
        with self.lock:
            self.waiting = deque(record for record in self.waiting if record not in stored)
            self.stuck = False
        self._say_dropped(dropped)
        self.wake.set()

    def _cannot_store(self, said: str) -> None:
        """Keep what the disk does not take in memory, to a bound; the sender takes it from there."""
        dropped = [0, 0]
        self.stuck = True
        with self.lock:
            size = sum(record.size for record in self.waiting)
            for place, kinds in enumerate(((READINGS,), (READINGS, STATES, LIST))):
                for record in list(self.waiting):
                    if size <= WAITING_BYTES_MAX:
                        break
                    if record.kind in kinds:
                        self.waiting.remove(record)
                        size -= record.size
                        dropped[place] += record.count
        self._trouble(f"{said} What is new waits in memory.")
        self._say_dropped(Dropped(*dropped))
        self.wake.set()

    def _say_dropped(self, dropped: Dropped) -> None:
        if dropped.readings or dropped.states:
            self.told.dropped_readings += dropped.readings
            self.told.dropped_states += dropped.states
            log.warning(
                "The spool is full (%d bytes): the oldest %d readings and %d states were dropped.",
                self.spool.bound, dropped.readings, dropped.states,
            )  # fmt: skip

    # the sender: from disk to server

    def _send(self) -> None:
        while True:
            self.wake.clear()
            last = self.closing.is_set() and not self.writer.is_alive()
            found = self._due(last)
            if found and not (self.closed and self.closing.is_set()):
                self._deliver(found)
            elif self.closing.is_set() and (last or self.closed):
                return
            else:
                self.wake.wait(1.0)

    def _due(self, last: bool) -> list[Record]:
        """Return the records of the next batch: states at once, readings once a minute or when there are many."""
        due = last or time.monotonic() - self.read >= self.readings_seconds
        kinds = (STATES, LIST, READINGS) if due else (STATES, LIST)
        try:
            if self.sent:
                self.spool.delete(self.sent)
                self.sent = []
            found = self.spool.first(kinds, size=self.limits.size)
        except SpoolBroken as error:
            self._trouble(str(error))
            found = []
        if self.spool.damaged:
            log.error("A part of the spool was damaged and is put aside: %s.", self.spool.damaged)
            self.spool.damaged = ""
        found = [record for record in found if record.seq not in self.sent]
        if not found:
            with self.lock:
                found = [record for record in self.waiting if record.kind in kinds][:256] if self.stuck else []
        if not found:
            if due:
                self.read = time.monotonic()
            return []
        return merged(found, self.limits)

    def _deliver(self, found: list[Record]) -> None:
        batch = batch_of(self.name, found)
        outcome = self.delivery.post(batch)
        if outcome.fate is Fate.TAKEN:
            self._taken(found, batch, outcome.answer)
        elif outcome.fate is Fate.LARGE:
            self._split(found, batch, outcome)
        elif outcome.fate is Fate.REFUSED and len(found) > 1:
            self._deliver(found[:1])  # which of them is it that is refused
        elif outcome.fate is Fate.REFUSED:
            self._aside(found, batch, outcome.said)
        else:
            self._rest(outcome)

    def _taken(self, found: list[Record], batch: dict[str, Any], answer: dict[str, Any]) -> None:
        self.pause, self.closed = 0.0, False
        told = self.told
        if told.trouble:
            log.info("%s takes what is told again.", self.delivery.base)
            told.trouble = ""
        told.batches += 1
        told.items += answer["accepted"]
        told.duplicate += int(answer.get("duplicate", 0))
        told.late += int(answer.get("late", 0))
        told.succeeded_at = now()
        refused = answer.get("refused") or []
        told.refused += len(refused)
        self.asides.note(batch, refused)
        self._forget(found)

    def _forget(self, found: list[Record]) -> None:
        """Forget what was delivered or put aside; what the disk does not forget now is not sent again."""
        with self.lock:
            for record in found:
                if not record.seq and record in self.waiting:
                    self.waiting.remove(record)
        self.sent += [record.seq for record in found if record.seq]
        try:
            self.spool.delete(self.sent)
            self.sent = []
        except SpoolBroken as error:
            self._trouble(str(error))

    def _split(self, found: list[Record], batch: dict[str, Any], outcome: Outcome) -> None:
        """Send smaller batches from now on; a record that is too large by itself becomes two."""
        size = sum(record.size for record in found)
        self.limits = Limits(self.limits.items, max(SIZE_MIN, min(self.limits.size, size // 2)))
        if len(found) > 1:
            return
        parts = halves(found[0])
        if not parts or not found[0].seq:
            self._aside(found, batch, outcome.said)
            return
        try:
            self.spool.replace(found[0].seq, parts)
        except SpoolBroken as error:
            self._rest(Outcome(Fate.AWAY, str(error)))

    def _aside(self, found: list[Record], batch: dict[str, Any], said: str) -> None:
        self.told.aside += 1
        self.asides.put(batch, said)
        self._forget(found)

    def _rest(self, outcome: Outcome) -> None:
        """Wait before the next try: growing pauses, with chance in them so that agents do not come all at once."""
        self.told.failures += 1
        self.closed = outcome.fate is Fate.CLOSED
        self._trouble(outcome.said)
        top = PAUSE_SLOW if outcome.fate is Fate.CLOSED else min(PAUSE_MAX, max(PAUSE_FIRST, self.pause * 2))
        self.pause = top
        rest = outcome.pause if outcome.pause is not None else top * random.uniform(0.5, 1.0)  # noqa: S311
        if self.closing.is_set():
            time.sleep(min(rest, 1.0))
        else:
            self.closing.wait(min(rest, PAUSE_MAX * 10))

    def _trouble(self, said: str) -> None:
        """Say a trouble once, until it is over or another."""
        if said != self.told.trouble:
            self.told.trouble = said
            log.warning("%s", said)
