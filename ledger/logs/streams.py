"""The logs of a run folded whole."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ledger.logs.events import Event
from ledger.logs.kept import Kept
from ledger.logs.order import Log, parts_of
from ledger.logs.profiles import Profile
from ledger.logs.terms import Attempt, Fold, Rules


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


def fold(profile: Profile, streams: Sequence[Stream], known: dict[int, Attempt]) -> Fold:
    """Return the fold of all events of a run; `known` is given each attempt's last line as it is."""
    logs = [Log(number, one.attempt, one.worker, one.numbered) for number, one in enumerate(streams)]
    kept = Kept(Fold(rules_of(profile)), parts_of(profile.strategy, logs))
    kept.go_on(known, rows=lambda part: part.rows(streams[part.log].events()))
    return kept.fold


def with_last_lines(known: dict[int, Attempt], streams: Iterable[Stream]) -> dict[int, Attempt]:
    """Return what is known of the attempts together with their last lines' own times."""
    joined = dict(known)
    for stream in streams:
        before = joined.get(stream.attempt, Attempt())
        times = [at for at in (before.last_line, stream.last_at) if at is not None]
        joined[stream.attempt] = Attempt(before.began, before.ended, max(times, default=None))
    return joined
