"""When a gang is whole: all the members that its job asks for run at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of time [start, end) in UTC ms; `end` None = still."""

    start: int
    end: int | None


class Gang:
    """When enough members ran at once; `needed` 0: there is no barrier."""

    def __init__(self, needed: int, ran: Iterable[Span]) -> None:
        self.needed = needed
        self.wholes = _wholes(needed, ran) if needed > 1 else []
        self.starts = [whole.start for whole in self.wholes]

    def whole_from(self, start: int) -> int | None:
        """Return the first instant from `start` on at which the gang was whole, None when it was not yet."""
        if self.needed <= 1:
            return start
        place = bisect_right(self.starts, start) - 1
        if place >= 0 and (self.wholes[place].end is None or self.wholes[place].end > start):  # type: ignore[operator]
            return start
        return self.starts[place + 1] if place + 1 < len(self.starts) else None


def _wholes(needed: int, ran: Iterable[Span]) -> list[Span]:
    """Return the stretches in which at least so many ran; an end comes before a start at the same instant."""
    turns: list[tuple[int, int]] = []
    for start, end in ran:
        if end is None or end > start:
            turns.append((start, 1))
            if end is not None:
                turns.append((end, -1))
    turns.sort()
    wholes: list[Span] = []
    running, since = 0, None
    for at, turn in turns:
        running += turn
        if running >= needed and since is None:
            since = at
        elif running < needed and since is not None:
            wholes.append(Span(since, at))
            since = None
    return wholes if since is None else [*wholes, Span(since, None)]
