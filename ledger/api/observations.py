"""Observations in, and the ones that were refused."""

from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast
from drf_spectacular.utils import extend_schema
from msgspec import Raw
from rest_framework.request import Request
from rest_framework.response import Response

from ledger.api import schema
from ledger.api.authentication import cluster_of, of_organization, token_of
from ledger.api.base import ApiView, page_at
from ledger.api.bodies import body_of
from ledger.api.reading import LIMIT, LIMIT_MAX, OFFSET_MAX, integer, known
from ledger.batches import Receipt
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Refused


def receipt_as_json(receipt: Receipt) -> dict[str, Any]:
    """Return what became of a batch; the refused items themselves stay here."""
    return {
        "accepted": receipt.accepted,
        "duplicate": receipt.duplicate,
        "late": receipt.late,
        "refused": [
            {"list": refusal.list, "index": refusal.index, "field": refusal.field, "error": refusal.error}
            for refusal in receipt.refused
        ],
    }


class Observations(ApiView):
    """Takes a batch of observations of one source."""

    scopes = frozenset({"ingest"})
    throttle = "ingest"

    @extend_schema(**schema.OBSERVATIONS)
    def post(self, request: Request, cluster: str) -> Response:
        token = token_of(request)
        of = cluster_of(token.organization, cluster)
        known(request.GET, ())
        batch = decode(body_of(request._request), request.headers.get("Content-Type", ""))
        return Response(receipt_as_json(ingest(of, batch, workspace=token.workspace)), 202)


class RefusedItems(ApiView):
    """Lists the items that were refused, the newest first. They are the organization's, of all its workspaces."""

    scopes = frozenset({"admin", "ingest"})

    @extend_schema(**schema.REFUSED)
    def get(self, request: Request, cluster: str) -> Response:
        token = of_organization(token_of(request))
        of = cluster_of(token.organization, cluster)
        given = known(request.GET, ("limit", "offset"))
        limit = integer(given, "limit", 1, LIMIT_MAX, LIMIT)
        offset = integer(given, "offset", 0, OFFSET_MAX, 0)
        found = (
            Refused.objects.filter(cluster=of).order_by("-received_at", "-pk").annotate(raw=Cast("item", TextField()))
        )
        page = [refused_as_json(item) for item in found[offset : offset + limit + 1]]
        following = page_at(request, offset + limit, {"limit": limit}) if len(page) > limit else None
        return Response({"refused": page[:limit], "next": following})


def refused_as_json(item: Any) -> dict[str, Any]:
    """Return a refused item with what was sent, digit by digit."""
    return {
        "received_at": item.received_at.isoformat().replace("+00:00", "Z"),
        "source": item.source,
        "list": item.list,
        "index": item.index,
        "field": item.field,
        "error": item.error,
        "item": Raw(item.raw.encode()),
    }
