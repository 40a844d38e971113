"""Events packed small: a chunk is a few bytes an event."""

import zlib
from collections.abc import Iterator, Sequence

import msgspec

from ledger.logs.events import Event, Kind


def packed(events: Sequence[Event], first: int) -> bytes:
    """Return the events of lines from `first` on, as bytes."""
    rows = [(event.number - first, *event[1:]) for event in events]
    return zlib.compress(msgspec.msgpack.encode(rows), 1)


def unpacked(data: bytes, first: int) -> Iterator[Event]:
    """Yield the events again."""
    for number, part, kind, *rest in msgspec.msgpack.decode(zlib.decompress(data)):
        yield Event(number + first, part, Kind(kind), *rest)
