"""A page for answers that Postgres gave up, or could not give: it says what to do, and is no mistake of this server."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from psycopg.errors import QueryCanceled

RETRY_SECONDS = "60"

log = logging.getLogger(__name__)


class GivingUpMiddleware:
    """Answers with 503 where a page took too long or the database is away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer what the database could not; everything else is somebody else's."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        slow = isinstance(error.__cause__, QueryCanceled)
        log.warning("%s: %s", "given up" if slow else "the database did not answer", error)
        where = {"slow": slow, "path": request.get_full_path() if request.method == "GET" else "/"}
        page = render(request, "503.html", where, status=503)
        page["Retry-After"], page["Cache-Control"] = RETRY_SECONDS, "no-store"
        return page
