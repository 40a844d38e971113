"""Turn spans that come and go into signed amounts per hour and cell, and into the two integers of an open line."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ledger.core.categories import Category
from ledger.core.facts import FOREVER
from ledger.core.spans import Span
from ledger.core.windows import HOUR, floor_hour

UNOBSERVED = len(Category)
UNOBSERVED_PRODUCTIVE = UNOBSERVED + 1
Key = TypeVar("Key")
LINES = (*(category.label for category in Category), "unobserved", "unobserved_productive")


class Cell(NamedTuple):
    """Where an amount belongs within an hour; machine 0 = not held."""

    run: int
    machine: int
    pool: int


@dataclass(slots=True)
class Postings:
    """Differences to add: GPU-microseconds of closed hours; and of the open hour milli-GPUs now (g) and offsets (a).

    The value of an open line at `t` is a + g × (t − open hour).
    """

    open_hour: int
    closed: dict[tuple[int, Cell], list[int]] = field(default_factory=dict)
    rates: dict[Cell, list[int]] = field(default_factory=dict)
    offsets: dict[Cell, list[int]] = field(default_factory=dict)

    def post(self, run: int, sign: int, spans: Iterable[Span], since: int) -> None:
        """Add (sign 1) or take back (−1) the part of `spans` from `since` on; an open end ticks by itself."""
        for span in spans:
            begin = max(span.since, since)
            if begin < span.to:
                self._post(Cell(run, span.machine, span.pool), sign * span.gpus_milli, _lines(span), begin, span.to)

    def _post(self, cell: Cell, gpus: int, lines: tuple[int, ...], begin: int, end: int) -> None:
        hour = floor_hour(begin)
        while hour < self.open_hour and hour < end:
            amount = gpus * (min(end, hour + HOUR) - max(begin, hour))
            _add(self.closed, (hour, cell), lines, amount)
            hour += HOUR
        if end > self.open_hour:
            self._enter(cell, gpus, lines, max(begin, self.open_hour))
            if end < FOREVER:
                assert end <= self.open_hour + HOUR, "nothing ahead of the open hour is posted"
                self._enter(cell, -gpus, lines, end)

    def _enter(self, cell: Cell, gpus: int, lines: tuple[int, ...], at: int) -> None:
        _add(self.rates, cell, lines, gpus)
        _add(self.offsets, cell, lines, -gpus * (at - self.open_hour))

    def net(self) -> "Postings":
        """Return the same differences without lines that cancel out, sorted by key."""
        moved = [cell for cell in sorted(self.rates) if any(self.rates[cell]) or any(self.offsets[cell])]
        return Postings(
            self.open_hour,
            {key: self.closed[key] for key in sorted(self.closed) if any(self.closed[key])},
            {cell: self.rates[cell] for cell in moved},
            {cell: self.offsets[cell] for cell in moved},
        )


def _lines(span: Span) -> tuple[int, ...]:
    if not span.unobserved:
        return (span.category,)
    if span.category is Category.PRODUCTIVE:
        return (span.category, UNOBSERVED, UNOBSERVED_PRODUCTIVE)
    return (span.category, UNOBSERVED)


def _add(amounts: dict[Key, list[int]], key: Key, lines: tuple[int, ...], amount: int) -> None:
    row = amounts.get(key)
    if row is None:
        row = amounts[key] = [0] * len(LINES)
    for line in lines:
        row[line] += amount
