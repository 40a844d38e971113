"""The one order in which the events of a run's logs are taken, however they arrived."""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from ledger.logs.events import LIFECYCLE, Event
from ledger.logs.profiles import Strategy

DIGITS = re.compile(r"(\d+)")
Key = tuple[int | str, ...]
Row = tuple[Key, Event]


class Late(Exception):
    """Something came that is older than what was taken, or the logs that count are others than before."""


class Log(NamedTuple):
    """The log of one worker in one attempt, by its `number`. `is_numbered`: its lines have numbers."""

    number: int
    attempt: int
    worker: str
    is_numbered: bool = True


class Turn(NamedTuple):
    """A row in its place among those of all the logs of an attempt; `reached` is the newest instant so far, µs."""

    reached: int
    place: int
    row: Row


@dataclass(slots=True)
class Part:
    """What counts of a log, and how far it was taken.

    `lifecycle`: whether its lifecycle lines count or its others, None = both. `chunk` is the newest of what was read of
    it, `carried` the last instant in that (µs), `held` the rows that were read and not taken yet, in order; `last` is
    the key of the newest taken row and `reached` the newest instant of all taken ones.
    """

    log: int
    is_numbered: bool
    lifecycle: bool | None = None
    chunk: int = 0
    carried: int = -1
    reached: int = -1
    last: Key | None = None
    held: list[Row] = field(default_factory=list)

    def rows(self, events: Iterable[Event]) -> Iterable[Row]:
        """Return the rows of events, in order. Those of lines with numbers come in it and are not kept in memory."""
        if self.is_numbered:
            return (((event.number, event.part), event) for event in events if self._counts(event))
        return sorted((row for row in self._settled(events) if self._counts(row[1])), key=itemgetter(0))

    def add(self, events: Iterable[Event]) -> None:
        """Hold the events that were read after all before. Raises Late when one belongs before what was taken."""
        known: set[Key | None] = set() if self.is_numbered else {self.last, *(key for key, _ in self.held)}
        new = [row for row in self.rows(events) if row[0] not in known]
        if new and self.last is not None and min(key for key, _ in new) < self.last:
            raise Late
        self.held = sorted([*self.held, *new], key=itemgetter(0))

    def _counts(self, event: Event) -> bool:
        return self.lifecycle is None or (event.kind in LIFECYCLE) == self.lifecycle

    def _settled(self, events: Iterable[Event]) -> Iterator[Row]:
        """Order a log without line numbers by what its events say; one that has an instant counts once."""
        seen = set()
        for event in events:
            if event.at is None:
                yield (self.carried, 1, event.number, event.part, ""), event
                continue
            self.carried = event.at
            step = -1 if event.step is None else event.step
            key = (event.at, 0, int(event.kind), step, repr(event[2:]))
            if key not in seen:
                seen.add(key)
                yield key, event


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Order worker-10 after worker-9."""
    return tuple((part.isdecimal(), int(part[:18]) if part.isdecimal() else 0, part) for part in DIGITS.split(name))


def chosen(strategy: Strategy, workers: Iterable[str]) -> tuple[str, str]:
    """Return whose lifecycle lines count and whose training steps, of workers of which there is at least one."""
    names = sorted(set(workers), key=natural)
    if strategy.replicated_job:
        names = [name for name in names if name.startswith(strategy.replicated_job)] or names
    if strategy.kind == "Single":
        return names[0], names[0]
    ends = {"first": names[0], "last": names[-1]}
    return ends[strategy.lifecycle], ends[strategy.steps]


def parts_of(strategy: Strategy, logs: Iterable[Log]) -> dict[int, list[Part]]:
    """Return by attempt what counts of its logs, nothing of it read yet, in the order in which they are merged."""
    by_attempt: dict[int, list[Log]] = {}
    for log in logs:
        by_attempt.setdefault(log.attempt, []).append(log)
    return {attempt: _parts(strategy, present) for attempt, present in by_attempt.items()}


def _parts(strategy: Strategy, present: Sequence[Log]) -> list[Part]:
    lifecycle, steps = chosen(strategy, (log.worker for log in present))
    return [
        Part(log.number, log.is_numbered, None if lifecycle == steps else log.worker == lifecycle)
        for log in sorted(present, key=lambda one: (natural(one.worker), not one.is_numbered))
        if log.worker in (lifecycle, steps)
    ]


def merged(logs: Sequence[tuple[Part, Iterable[Row]]]) -> Iterator[Turn]:
    """Merge the rows of logs by their instants; an event without one stays behind the one before it."""

    def turns(place: int, part: Part, rows: Iterable[Row]) -> Iterator[Turn]:
        reached = part.reached
        for row in rows:
            at = row[1].at
            if at is not None and at > reached:
                reached = at
            yield Turn(reached, place, row)

    return heapq.merge(*(turns(place, part, rows) for place, (part, rows) in enumerate(logs)), key=itemgetter(0, 1))
