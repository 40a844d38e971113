"""Checkpoints as a log tells of them: begun, done, how long each took; each counts once, whoever printed it."""

from dataclasses import dataclass, field

from ledger.logs.events import Event, Kind

REMEMBERED = 64


@dataclass(slots=True)
class Checkpoints:
    """`opens` and `saved` are [key, µs] of the newest checkpoints; `total` is what all of them took.

    `last` is the step of the newest that is complete, `done_at` its instant when it was made since `begin_pass`.
    """

    opens: list[list[int | None]] = field(default_factory=list)
    saved: list[list[int | bool]] = field(default_factory=list)
    open_key: int | None = None
    done_key: int | None = None
    last: int | None = None
    done_at: int | None = None
    total: int = 0
    skew: int = 0

    def begin_pass(self) -> None:
        """Forget what was being saved: steps that come again are saved again."""
        self.opens, self.saved, self.open_key, self.done_key, self.done_at = [], [], None, None, None

    def take(self, event: Event, current: int | None, moment: int | None, done_is_told: bool) -> int | None:
        """Take an event; return the step of the checkpoint when this completes one. `moment`: the last known instant.

        `done_is_told`: the profile tells of ends, so a beginning is none.
        """
        if event.kind is Kind.SAVE:
            key = event.step if event.step is not None else current if current is not None else -1
            self.open_key = key
            if self.of(key) is None and all(row[0] != key for row in self.opens):
                self.opens = [*self.opens[1 - REMEMBERED :], [key, event.at]]
            if done_is_told and event.took is None:
                return None
            return self.complete(key, event, moment)
        key = next((k for k in (event.step, self.open_key, self.done_key, current) if k is not None), -1)
        self.open_key = None
        return self.complete(key, event, moment)

    def of(self, key: int) -> list[int | bool] | None:
        return next((row for row in self.saved if row[0] == key), None)

    def complete(self, key: int, event: Event, moment: int | None) -> int | None:
        """A printed duration counts rather than the time from beginning to end; the first one printed stays."""
        row = self.of(key)
        printed = event.took is not None
        if row is not None:
            if printed and not row[2]:
                self.total += (event.took or 0) - row[1]
                row[1], row[2] = event.took or 0, True
            return None
        took = event.took if event.took is not None else self.lasted(key, event.at)
        self.saved = [*self.saved[1 - REMEMBERED :], [key, took, printed]]
        self.total += took
        self.done_key = key
        self.last = key if key >= 0 else self.last
        self.done_at = event.at if event.at is not None else moment
        return key

    def lasted(self, key: int, at: int | None) -> int:
        begun = next((row[1] for row in self.opens if row[0] == key), None)
        if begun is None or at is None:
            return 0
        self.skew = max(self.skew, begun - at)
        return max(at - begun, 0)
