"""Bodies of requests, read with a bound."""

from typing import Protocol

from django.http import HttpRequest

from ledger.decode import BODY_BYTES_MAX, BadBody, refuse_size

_PIECE_BYTES = 256 * 1024


class Readable(Protocol):
    """Where a body comes from."""

    def read(self, size: int, /) -> bytes: ...


def body_of(request: HttpRequest) -> bytes:
    """Return the whole body; never holds more than the limit and a piece. Raises BadBody."""
    if request.headers.get("Content-Encoding"):
        raise BadBody(415, "A body must not be compressed or otherwise encoded.")
    announced = request.headers.get("Content-Length", "")
    if announced.isdecimal() and int(announced[:20]) > BODY_BYTES_MAX:
        refuse_size()
    source: Readable = request
    if not announced and request.META.get("wsgi.input_terminated"):
        source = request.META["wsgi.input"]  # sent in chunks, which Django takes for an empty body
    try:
        return _bounded(source)
    except OSError:
        raise BadBody(400, "The body ended before it was complete.") from None


def _bounded(source: Readable) -> bytes:
    body = bytearray()
    while piece := source.read(min(_PIECE_BYTES, BODY_BYTES_MAX + 1 - len(body))):
        body += piece
        if len(body) > BODY_BYTES_MAX:
            refuse_size()
    return bytes(body)
