"""Ledgers as metrics, for Prometheus and whatever reads its formats."""

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import metrics, queries
from ledger.api import schema
from ledger.api.authentication import scope_of
from ledger.api.base import ApiView
from ledger.api.reading import known


class Metrics(ApiView):
    """Answers with what the token sees as gauges: text 0.0.4, or OpenMetrics where that is accepted."""

    scopes = frozenset({"metrics"})

    @extend_schema(**schema.METRICS)
    def get(self, request: Request) -> Response:
        known(request.GET, ())
        seen = queries.scrape(scope_of(request), queries.now())
        families = metrics.families(seen, settings.METRICS_NAMES_MAX)
        text, content_type = metrics.exposition(families, request.headers.get("Accept", ""))
        return Response(text, content_type=content_type)
