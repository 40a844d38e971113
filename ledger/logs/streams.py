"""Which logs of a run count, and the one order in which their events are taken, however they arrived."""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from ledger.logs.events import LIFECYCLE, Event
from ledger.logs.profiles import Profile, Strategy
from ledger.logs.terms import Attempt, Fold, Rules

DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Stream:
    """The log of one worker in one attempt.

    `numbered`: its lines have numbers, and `events` come in their order; else they are ordered here, by their instants
    where they have one. `events` is called when they are needed.
    """

    attempt: int
    worker: str
    events: Callable[[], Iterable[Event]]
    numbered: bool = True
    last_at: int | None = None


def rules_of(profile: Profile) -> Rules:
    return Rules(profile.warmup_steps, profile.log_interval, profile.pattern("checkpointDone") is not None)


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


def fold(profile: Profile, streams: Sequence[Stream], known: dict[int, Attempt]) -> Fold:
    """Return the fold of all events of a run; `known` is given each attempt's last line as it is."""
    folded = Fold(rules_of(profile))
    by_attempt = dict(ordered(profile.strategy, streams))
    for attempt in sorted({*known, *by_attempt}):
        folded.enter(attempt, known)
        for event in by_attempt.get(attempt, ()):
            folded.take(event)
    return folded


def with_last_lines(known: dict[int, Attempt], streams: Iterable[Stream]) -> dict[int, Attempt]:
    """Return what is known of the attempts together with their last lines' own times."""
    joined = dict(known)
    for stream in streams:
        before = joined.get(stream.attempt, Attempt())
        times = [at for at in (before.last_line, stream.last_at) if at is not None]
        joined[stream.attempt] = Attempt(before.began, before.ended, max(times, default=None))
    return joined


def ordered(strategy: Strategy, streams: Sequence[Stream]) -> Iterator[tuple[int, Iterator[Event]]]:
    """Yield each attempt with its events that count, in the order of the logs."""
    by_attempt = attrgetter("attempt")
    for attempt, of_attempt in groupby(sorted(streams, key=by_attempt), key=by_attempt):
        present = list(of_attempt)
        lifecycle, steps = chosen(strategy, (stream.worker for stream in present))
        parts = [
            wanted(stream, lifecycle, steps)
            for stream in sorted(present, key=lambda one: (natural(one.worker), not one.numbered))
            if stream.worker in (lifecycle, steps)
        ]
        yield attempt, parts[0] if len(parts) == 1 else merged(parts)


def wanted(stream: Stream, lifecycle: str, steps: str) -> Iterator[Event]:
    events = iter(stream.events()) if stream.numbered else iter(settled(stream.events()))
    if lifecycle == steps:
        return events
    of_lifecycle = stream.worker == lifecycle
    return (event for event in events if (event.kind in LIFECYCLE) == of_lifecycle)


def settled(events: Iterable[Event]) -> list[Event]:
    """Order the events of a log without line numbers by what they say; one that has an instant counts once."""
    carried, keyed = -1, []
    seen = set()
    for event in events:
        if event.at is None:
            keyed.append(((carried, 1, event.number, event.part, ""), event))
            continue
        carried = event.at
        said = (*event[2:],)
        if said not in seen:
            seen.add(said)
            step = -1 if event.step is None else event.step
            keyed.append(((event.at, 0, int(event.kind), step, repr(said)), event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]


def merged(parts: Sequence[Iterator[Event]]) -> Iterator[Event]:
    """Merge logs by their instants; an event without one stays behind the one before it."""

    def keyed(index: int, part: Iterator[Event]) -> Iterator[tuple[int, int, int, Event]]:
        carried = -1
        for position, event in enumerate(part):
            carried = max(carried, -1 if event.at is None else event.at)
            yield carried, index, position, event

    streams = [keyed(index, part) for index, part in enumerate(parts)]
    return (event for *_, event in heapq.merge(*streams, key=lambda row: row[:3]))
