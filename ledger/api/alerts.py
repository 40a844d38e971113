"""Alerts that are firing, and those that were."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.access import Watched, watched_by, watched_with
from ledger.api import schema
from ledger.api.base import page_at
from ledger.api.goodput import Ledgers
from ledger.api.reading import alerts_question
from ledger.models import Token
from ledger.writing import alerts


def watched_of(request: Request) -> Watched:
    """Return whose alerts the asker may see."""
    token = request.auth
    if not isinstance(token, Token):
        return watched_by(request.user)
    return watched_with(token.organization, token.workspace)


class Alerts(Ledgers):
    """Lists alerts, those that are firing first, then the newest."""

    @extend_schema(**schema.ALERTS)
    def get(self, request: Request) -> Response:
        asked = alerts_question(request.GET)
        page = queries.alerts(
            watched_of(request), firing=asked.firing, rule=asked.rule, limit=asked.limit, offset=asked.offset
        )
        end = asked.offset + asked.limit
        said = {**request.GET.dict(), "limit": asked.limit}
        following = page_at(request, end, said) if end < page.count else None
        return Response({"alerts": [alerts.alert(row) for row in page.rows], "count": page.count, "next": following})
