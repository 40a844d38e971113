"""Take a window of a run's log: read the lines that are new and keep their events, in one transaction."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from django.db import transaction

from ledger import sql
from ledger.logs.events import Event
from ledger.logs.matching import Matcher
from ledger.logs.reader import Read, read_lines
from ledger.measuring.coverage import joined, missing
from ledger.measuring.packing import packed
from ledger.models import LogChunk, LogStream, Measurement

EVENTS_MAX = 1_500_000  # of one run
DROPPED_MAX = 2**53  # what any reader of JSON takes for a number
TAIL_LINES = 512
WINDOWS_REMEMBERED = 1_024
STREAMS_MAX = 20_000


class BadWindow(ValueError):
    """A window that cannot be taken; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of one worker's log in one attempt. `first`: the number of the first one, where its reader counts them."""

    attempt: int
    worker: str
    lines: Sequence[bytes]
    first: int | None = None
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a window: lines read now, lines that were read before, lines not read for want of time."""

    read: int = 0
    again: int = 0
    left: int = 0
    events: int = 0
    frozen: bool = False


def read_window(matcher: Matcher, window: Window, enough: Callable[[], bool] = lambda: False) -> Read:
    """Return what the window's lines say, numbered from 0; `enough` says when to stop, after a piece at least."""
    return read_lines(matcher, window.lines, 0, enough)


def take_window(run: int, window: Window, found: Read) -> Taken:
    """Keep what was found in a window of the run's log; the same again changes nothing.

    After the run's measurement was frozen nothing is taken. Raises BadWindow when there is no measurement.
    """
    with transaction.atomic():
        measurement = Measurement.objects.select_for_update(no_key=True).filter(run=run).first()
        if measurement is None:
            raise BadWindow("The run has no measurement; name a log profile.")
        if measurement.frozen is not None:
            return Taken(again=len(window.lines), frozen=True)
        return _take(measurement, window, found)


def stream_of(measurement: Measurement, window: Window) -> LogStream:
    key = {"attempt": window.attempt, "worker": window.worker, "numbered": window.first is not None}
    found = LogStream.objects.filter(measurement=measurement, **key).first()
    if found is None and LogStream.objects.filter(measurement=measurement).count() >= STREAMS_MAX:
        raise BadWindow(f"A run has at most {STREAMS_MAX:,} logs.")
    return found or LogStream(measurement=measurement, **key)


def _take(measurement: Measurement, window: Window, found: Read) -> Taken:
    stream = stream_of(measurement, window)
    lines = window.lines[: found.lines]
    first, known = (window.first, 0) if window.first is not None else (stream.lines, _joined_to(stream, lines))
    fresh = missing(stream.covered, first, first + len(lines) - known)
    left = len(window.lines) - found.lines
    if not fresh and not window.dropped:
        return Taken(again=len(lines), left=left)
    read, kept, room = 0, list[Event](), EVENTS_MAX - measurement.events
    numbers = [event.number for event in found.events]
    stream.dropped = min(stream.dropped + window.dropped, DROPPED_MAX)
    stream.save()
    for lower, upper in fresh:
        begin, end = lower - first + known, upper - first + known
        part = found.events[bisect_left(numbers, begin) : bisect_left(numbers, end)]
        events = [event._replace(number=event.number - begin + lower) for event in part[: max(room - len(kept), 0)]]
        stream.dropped += len(part) - len(events)
        stream.covered = joined(stream.covered, lower, upper)
        stream.octets += sum(map(len, lines[begin:end])) + end - begin
        read += upper - lower
        kept += events
        if events:
            LogChunk.objects.create(stream=stream, first=lower, packed=packed(events, lower))
    stream.lines += read
    if found.last_at is not None:
        stream.last_at = found.last_at if stream.last_at is None else max(found.last_at, stream.last_at)
    stream.save()
    measurement.windows += 1
    measurement.events += len(kept)
    measurement.touched_at = sql.rows("clock_time")[0][0]
    measurement.save(update_fields=["windows", "events", "touched_at"])
    return Taken(read, len(lines) - read, left, len(kept))


def _joined_to(stream: LogStream, lines: Sequence[bytes]) -> int:
    """Return how many of the lines were read already, and remember them by their hashes."""
    hashes = [blake2b(line, digest_size=8).hexdigest() for line in lines]
    whole = blake2b("".join(hashes).encode(), digest_size=8).hexdigest()
    known = len(lines) if whole in stream.seen else overlap(stream.tail, hashes)
    stream.tail = [*stream.tail, *hashes[known:]][-TAIL_LINES:]
    stream.seen = [*stream.seen, whole][-WINDOWS_REMEMBERED:]
    return known


def overlap(tail: Sequence[str], window: Sequence[str]) -> int:
    """Return how many of the window's first lines were read already: all of them, or those that were read last."""
    size = len(window)
    if any(list(tail[at : at + size]) == list(window) for at in range(len(tail) - size + 1)):
        return size
    for count in range(min(len(tail), len(window)), 0, -1):
        if list(tail[-count:]) == list(window[:count]):
            return count
    return 0
