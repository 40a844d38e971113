"""The time zone of whoever reads the page that is being made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse

from ledger import viewers

UTC = ZoneInfo("UTC")
_zone: ContextVar[ZoneInfo] = ContextVar("zone")


def here() -> ZoneInfo:
    return _zone.get(UTC)


@contextmanager
def reading_in(name: str) -> Iterator[None]:
    """Put a zone in force; "" is UTC."""
    token = _zone.set(ZoneInfo(name) if name else UTC)
    try:
        yield
    finally:
        _zone.reset(token)


class ZoneMiddleware:
    """Puts the zone of who asks in force for as long as the answer is made; programs that show a token have none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with reading_in(viewers.zone_of(request.user)):
            return self.get_response(request)
