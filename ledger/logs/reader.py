"""From the bytes of a log to its events: pieces joined to lines, codes of terminals taken out, each line looked at.

Memory is bounded by a piece and a line, whatever the log is.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import re2

from ledger.logs.events import Event
from ledger.logs.layouts import compiled
from ledger.logs.matching import Match, Matcher, options
from ledger.logs.profiles import LINE_BYTES_MAX

PIECE_BYTES = 256 * 1024
ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
STAMPED = re.compile(rb"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ")
ANY_STAMPED = re2.compile(b"(?m)" + STAMPED.pattern, options())
STAMP = compiled("RFC3339Nano")


class Text(NamedTuple):
    """What is matched: a line (part 0), or a part of one that was rewritten in place; `stamp`: the reader's own, µs."""

    number: int
    part: int
    line: bytes
    stamp: int | None = None


class Read(NamedTuple):
    """What some lines said: the events, the newest instant that any of them has, and how many lines were read."""

    events: list[Event]
    last_at: int | None
    lines: int = 0


def texts_of(lines: Sequence[bytes], first: int) -> list[Text]:
    """Return what is matched of each line: without the codes of terminals, without the log reader's stamp."""
    found = []
    for number, whole in enumerate(lines, first):
        line = ANSI.sub(b"", whole) if b"\x1b" in whole else whole
        rewritten = b"\r" in line.rstrip(b"\r")
        parts = [part for part in line.split(b"\r") if part] if rewritten else [line.rstrip(b"\r")]
        stamp = None
        for part, text in enumerate(parts, int(rewritten)):
            stamped = STAMPED.match(text)
            instant = None if stamped is None else stamp_of(stamped.group(1))
            stamp = stamp if instant is None else instant
            begin = 0 if stamped is None or instant is None else stamped.end()
            found.append(Text(number, part, text[begin : begin + LINE_BYTES_MAX], stamp))
    return found


def stamp_of(text: bytes) -> int | None:
    try:
        return STAMP(text.decode())
    except (ValueError, OverflowError):
        return None


def interesting(matcher: Matcher, texts: Sequence[bytes]) -> Iterable[int]:
    """Return which of the texts some pattern matches, in order; all of them when that cannot be told at once."""
    if matcher.any is None:
        return range(len(texts))
    blob = b"\n".join(texts)
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    found: list[int] = []
    at, end, search = 0, len(blob), matcher.any.search
    while at <= end and (match := search(blob, at, end)) is not None:
        index = bisect_right(starts, match.start()) - 1
        found.append(index)
        at = starts[index + 1]
    return found


def read_lines(
    matcher: Matcher, lines: Sequence[bytes], first: int = 0, enough: Callable[[], bool] = lambda: False
) -> Read:
    """Return what lines say, the first being number `first` of its log; at least a piece, until it is `enough`."""
    events: list[Event] = []
    last: int | None = None
    size, begin = 0, 0
    for end, line in enumerate(lines, 1):
        size += min(len(line), PIECE_BYTES) + 1
        if size >= PIECE_BYTES or end == len(lines):
            found = _read_piece(matcher, lines[begin:end], first + begin)
            events += found.events
            last = newest(last, found.last_at)
            size, begin = 0, end
            if enough():
                break
    return Read(events, last, begin)


def _read_piece(matcher: Matcher, lines: Sequence[bytes], first: int) -> Read:
    blob = b"\n".join(lines)
    if b"\r" in blob or b"\x1b" in blob or ANY_STAMPED.search(blob) or len(max(lines, key=len)) > LINE_BYTES_MAX:
        texts: list[Text] | None = texts_of(lines, first)
        last = max((text.stamp for text in texts or () if text.stamp is not None), default=None)
        plain = [text.line for text in texts or ()]
    else:
        texts, last, plain = None, None, list(lines)
    events: list[Event] = []
    for index in interesting(matcher, plain):
        text = Text(first + index, 0, plain[index]) if texts is None else texts[index]
        for match in matcher.matches(text.line, text.stamp, text.number, text.part):
            events.append(match.event)
            last = newest(last, match.event.at)
    return Read(events, last)


def matched(matcher: Matcher, lines: Sequence[bytes]) -> Iterator[tuple[Text, list[Match]]]:
    """Yield each text of the lines with what it says, for the tester."""
    for text in texts_of(lines, 0):
        yield text, matcher.matches(text.line, text.stamp, text.number, text.part)


def newest(one: int | None, other: int | None) -> int | None:
    return other if one is None or (other is not None and other > one) else one


class Lines:
    """Joins pieces of a log to lines. A line longer than the limit is cut there; `cut` counts such lines."""

    def __init__(self) -> None:
        self.rest = b""
        self.cut = 0
        self.skipping = False

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that end in this piece."""
        lines = (self.rest + piece).split(b"\n")
        self.rest = lines.pop()
        if self.skipping and lines:
            lines[0], self.skipping = b"", False
            del lines[0]
        if len(self.rest) > PIECE_BYTES:
            self.cut += not self.skipping
            if not self.skipping:
                lines.append(self.rest[:PIECE_BYTES])
            self.rest, self.skipping = b"", True
        return lines

    def end(self) -> list[bytes]:
        """Return what is left when the log has ended."""
        rest, self.rest = self.rest, b""
        return [rest] if rest and not self.skipping else []
