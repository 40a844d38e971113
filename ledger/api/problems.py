"""Errors as application/problem+json (RFC 9457), the same words for what is not there and for what may not be seen."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404
from psycopg.errors import QueryCanceled
from rest_framework import exceptions
from rest_framework.response import Response

from ledger.core.steady import ClockJump
from ledger.decode import BadBody
from ledger.ingest import BadBatch

PROBLEM = "application/problem+json"
NOT_FOUND = "There is nothing at this address that you may see."
RETRY = {"Retry-After": "5"}
CLOCK_SECONDS = 60

log = logging.getLogger(__name__)


class Problem(exceptions.APIException):
    """An answer that is an error: its HTTP status and one sentence that says why."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status_code = status


class TooOften(Problem):
    """Who asks has asked as often as they may; `wait` is after how many seconds they may again."""

    def __init__(self, wait: int) -> None:
        super().__init__(429, f"This was asked for too often; try again in {wait} seconds.")
        self.wait = wait


def answer(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return the error as a response."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(body, status, headers=headers, content_type=PROBLEM)


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Return the answer to anything that was raised; what nobody foresaw is logged and answered with 500."""
    if isinstance(error, Http404 | exceptions.NotFound):
        return answer(404, NOT_FOUND)
    if isinstance(error, BadBody):
        return answer(error.status, error.detail)
    if isinstance(error, BadBatch):
        return answer(400, f"{error}")
    if isinstance(error, PermissionDenied):
        return answer(403, "This is not allowed.")
    if isinstance(error, TooOften):
        return answer(429, str(error.detail), {"Retry-After": str(error.wait)})
    if isinstance(error, exceptions.APIException):
        challenge = getattr(error, "auth_header", None)
        return answer(error.status_code, str(error.detail), {"WWW-Authenticate": challenge} if challenge else None)
    if isinstance(error, ClockJump):
        return answer(503, "This server's clock jumped; try again.", {"Retry-After": str(CLOCK_SECONDS)})
    if isinstance(error.__cause__, QueryCanceled):
        log.warning("given up: %s", error)
        return answer(503, "This took too long; ask for fewer days, or for less at once.", RETRY)
    if isinstance(error, OperationalError | InterfaceError):
        log.warning("the database did not answer: %s", error)
        return answer(503, "The database does not answer; try again.", RETRY)
    log.error("unforeseen", exc_info=error)
    got_request_exception.send(sender=type(context["view"]), request=context["request"]._request)
    return answer(500, "This server made a mistake; its log says which.")
