"""The time zone of whoever reads the page that is being made."""

from collections.abc import Callable
from contextvars import ContextVar
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse

from ledger import viewers

UTC = ZoneInfo("UTC")
_zone: ContextVar[ZoneInfo] = ContextVar("zone")


def here() -> ZoneInfo:
    return _zone.get(UTC)


class ZoneMiddleware:
    """Puts the zone of who asks in force for as long as the answer is made; programs that show a token have none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = viewers.zone_of(request.user)
        token = _zone.set(ZoneInfo(name) if name else UTC)
        try:
            return self.get_response(request)
        finally:
            _zone.reset(token)
