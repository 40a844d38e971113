"""Observations in, and the ones that were refused."""

from typing import Any
from urllib.parse import urlencode

from django.db.models import TextField
from django.db.models.functions import Cast
from django.http import Http404
from drf_spectacular.utils import extend_schema
from msgspec import Raw
from rest_framework.request import Request
from rest_framework.response import Response

from ledger.api import schema
from ledger.api.authentication import token_of
from ledger.api.base import ApiView
from ledger.api.bodies import body_of
from ledger.api.problems import Problem
from ledger.api.reading import LIMIT, LIMIT_MAX, OFFSET_MAX, integer, known
from ledger.batches import Receipt
from ledger.decode import decode, values
from ledger.ingest import ingest
from ledger.models import Cluster, Refused, Token


def cluster_of(token: Token, name: str) -> Cluster:
    """Return the cluster of that name that the token may see. Raises Http404."""
    try:
        exact = values.name(name)
    except ValueError:
        raise Http404 from None
    cluster = Cluster.objects.filter(organization=token.organization, name=exact).first()
    if cluster is None:
        raise Http404
    return cluster


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

    @extend_schema(**schema.OBSERVATIONS)
    def post(self, request: Request, cluster: str) -> Response:
        token = token_of(request)
        of = cluster_of(token, cluster)
        known(request.GET, ())
        batch = decode(body_of(request._request), request.headers.get("Content-Type", ""))
        return Response(receipt_as_json(ingest(of, batch, workspace=token.workspace)), 202)


class RefusedItems(ApiView):
    """Lists the items that were refused, the newest first. They are the organization's, of all its workspaces."""

    scopes = frozenset({"admin", "ingest"})

    @extend_schema(**schema.REFUSED)
    def get(self, request: Request, cluster: str) -> Response:
        token = token_of(request)
        if token.workspace is not None:
            raise Problem(403, "This needs a token of the organization; this one is of a workspace.")
        of = cluster_of(token, cluster)
        given = known(request.GET, ("limit", "offset"))
        limit = integer(given, "limit", 1, LIMIT_MAX, LIMIT)
        offset = integer(given, "offset", 0, OFFSET_MAX, 0)
        found = (
            Refused.objects.filter(cluster=of).order_by("-received_at", "-pk").annotate(raw=Cast("item", TextField()))
        )
        page = [refused_as_json(item) for item in found[offset : offset + limit + 1]]
        more = urlencode({"limit": limit, "offset": offset + limit})
        following = request.build_absolute_uri(f"{request.path}?{more}") if len(page) > limit else None
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
