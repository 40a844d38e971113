"""Lines of a container's log as an API server gives them, each behind its instant, and which were read before. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from astra.collect.kubernetes import raw

LINE_BYTES_MAX = 8 * 1024
STAMP_BYTES = 40
STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
NEAR_NS = 10_000_000  # two streams of a container are written to one log: its instants are in order but for so much
MARKS_MAX = 1_024
MINUTE_BYTES = 4 * 1024 * 1024
BURST_BYTES = 16 * 1024 * 1024  # more than a node keeps in a log's file, so that a whole one is read at first


class Line(NamedTuple):
    """A line with its stamp; `ns` is that instant, UTC ns, and `mark` what tells it from others of that instant."""

    ns: int
    mark: str
    text: bytes


def line_of(text: bytes) -> Line | None:
    """Return a line; None for one without an instant: the node says that, and not the container."""
    found = STAMP.match(text)
    second = None if found is None else raw.ms(b"".join((found[1], found[3])).decode())
    if found is None or second is None:
        return None
    ns = second * 1_000_000 + int((found[2] or b"0").ljust(9, b"0"))
    return Line(ns, blake2b(text, digest_size=6).hexdigest(), text)


@dataclass(frozen=True)
class Place:
    """How far a log was taken: its last line's instant (UTC ns, 0 = nothing yet), and the lines close to it."""

    last: int = 0
    marks: tuple[tuple[int, str], ...] = ()
    done: bool = False

    @property
    def since(self) -> str:
        """The whole second that reading goes on from."""
        return raw.iso(self.last // 1_000_000_000 * 1_000).replace(".000Z", "Z")

    def after(self, lines: Iterable[Line]) -> Place:
        """Return the place behind these lines too."""
        marks = [*self.marks, *((line.ns, line.mark) for line in lines)]
        if not marks:
            return self
        last = marks[-1][0]
        return Place(last, tuple(mark for mark in marks if mark[0] >= last - NEAR_NS)[-MARKS_MAX:], self.done)


class Known:
    """Says of lines that are read again from a place whether they were taken; after one that was not, none was."""

    def __init__(self, place: Place) -> None:
        self.last = place.last
        self.marks = frozenset(mark for _, mark in place.marks)
        self.passed = not place.last

    def has(self, line: Line) -> bool:
        if not self.passed:
            self.passed = line.ns >= self.last - NEAR_NS and line.mark not in self.marks
        return not self.passed


class Splitter:
    """Joins pieces to lines; of a long line only its beginning is kept."""

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        found = piece.split(b"\n")
        found[0] = self.rest + found[0]
        found = [line[: LINE_BYTES_MAX + STAMP_BYTES] for line in found]
        self.rest = found.pop()
        return found

    def end(self) -> list[bytes]:
        """Return the last line, where it has no end."""
        rest, self.rest = self.rest, b""
        return [rest] if rest else []


class Budget:
    """What may be taken of a log: so many bytes a minute, and a whole file of them at once. Instants in seconds."""

    def __init__(self, at: float, minute: int = MINUTE_BYTES, burst: int = BURST_BYTES) -> None:
        self.minute, self.burst = minute, burst
        self.left, self.at = float(burst), at

    def takes(self, size: int, at: float) -> bool:
        self.left = min(self.left + (at - self.at) * self.minute / 60, self.burst)
        self.at = at
        if size > self.left:
            return False
        self.left -= size
        return True
