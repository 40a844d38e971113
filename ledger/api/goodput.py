"""Ledgers out."""

from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.api import schema
from ledger.api.authentication import TokenAuthentication, scope_of
from ledger.api.base import ApiView
from ledger.api.figures import envelope
from ledger.api.reading import Question, question
from ledger.decode.values import iso


class Goodput(ApiView):
    """Answers with a ledger per workspace, run, machine, pool or user, and their total."""

    authentication_classes = (TokenAuthentication, SessionAuthentication)

    @extend_schema(**schema.GOODPUT)
    def get(self, request: Request) -> Response:
        asked = question(request.GET, queries.now())
        answer = queries.goodput(
            scope_of(request), asked.window, asked.by, asked.filters, asked.sort, asked.limit, asked.offset
        )
        following = next_page(request, asked) if asked.offset + asked.limit < answer.count else None
        return Response(envelope(answer, asked.unit, following))


def next_page(request: Request, asked: Question) -> str:
    """Return the address of the next page, of these very hours also when the clock goes on."""
    said = {name: text for name, text in request.GET.items() if name not in ("days", "weeks")}
    said |= {"start": iso(asked.window.start), "end": iso(asked.window.end)}
    said |= {"limit": str(asked.limit), "offset": str(asked.offset + asked.limit)}
    return request.build_absolute_uri(f"{request.path}?{urlencode(said)}")
