"""A fold that is kept and gone on with as more is read, as long as that is newer than what was taken. Pure."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ledger.logs.order import Late, Part, Row, Turn, merged
from ledger.logs.terms import Attempt, Fold

HELD = 1_000  # rows that wait, so that windows may come in another order than that of their lines


@dataclass(slots=True)
class Kept:
    """What was taken of a run's logs, and what was read of them and waits.

    `parts` are the logs that count, by attempt, from the one that is being folded on. `left` is what was known of the
    attempts before it when it began, which the fold cannot take back; `reached` its newest turn (instant in µs, log).
    """

    fold: Fold
    parts: dict[int, list[Part]] = field(default_factory=dict)
    left: dict[int, Attempt] = field(default_factory=dict)
    reached: tuple[int, int] = (-1, -1)

    def follow(self, parts: dict[int, list[Part]], known: dict[int, Attempt]) -> None:
        """See which logs count by now. Raises Late when what was taken stands no more."""
        attempt = self.fold.attempt
        began = known.get(attempt, Attempt()).began
        if earlier(known, attempt) != self.left or began != self.fold.began:
            raise Late
        if not same(self.parts.get(attempt, []), parts.get(attempt, [])):
            raise Late
        self.parts = {n: self.parts[n] if same(self.parts.get(n, []), now) else now for n, now in parts.items()}

    def go_on(
        self, known: dict[int, Attempt], held: int = 0, rows: Callable[[Part], Iterable[Row]] = lambda part: part.held
    ) -> int:
        """Take all rows but the newest `held`, and without any left all attempts; return how many. Raises Late."""
        ahead: deque[tuple[int, Turn]] = deque()
        taken = 0
        for one in self._turns(rows):
            ahead.append(one)
            if len(ahead) > held:
                self._take(*ahead.popleft(), known)
                taken += 1
        for attempt, turn in ahead:
            self.parts[attempt][turn.place].held.append(turn.row)
        if not held:
            self._enter(max({*known, *self.parts}, default=0), known)
        return taken

    def _turns(self, rows: Callable[[Part], Iterable[Row]]) -> Iterator[tuple[int, Turn]]:
        for attempt in sorted(self.parts):
            given = [(part, rows(part)) for part in self.parts[attempt]]
            for part, _ in given:
                part.held = []
            for turn in merged(given):
                yield attempt, turn

    def _take(self, attempt: int, turn: Turn, known: dict[int, Attempt]) -> None:
        self._enter(attempt, known)
        if turn[:2] < self.reached:
            raise Late
        part = self.parts[attempt][turn.place]
        self.fold.take(turn.row[1])
        self.reached, part.reached, part.last = turn[:2], turn.reached, turn.row[0]

    def _enter(self, attempt: int, known: dict[int, Attempt]) -> None:
        """Enter the attempts up to this one, each in its turn."""
        if attempt <= self.fold.attempt:
            return
        for number in sorted(n for n in {*known, *self.parts} if self.fold.attempt < n <= attempt):
            self.fold.enter(number, known)
        self.left, self.reached = earlier(known, attempt), (-1, -1)
        self.parts = {number: parts for number, parts in self.parts.items() if number >= attempt}


def earlier(known: dict[int, Attempt], attempt: int) -> dict[int, Attempt]:
    return {number: one for number, one in known.items() if number < attempt}


def same(parts: list[Part], others: list[Part]) -> bool:
    """Whether the same logs count, in the same way."""
    return [(one.log, one.lifecycle) for one in parts] == [(one.log, one.lifecycle) for one in others]
