"""What agents and operators ask of a cluster: which workers hold its GPUs now, and how its sources do."""

from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.access import Scope
from ledger.api import schema
from ledger.api.authentication import cluster_of, of_organization, scope_of, token_of
from ledger.api.base import ApiView
from ledger.api.reading import WORKERS_MAX, integer, known
from ledger.decode.values import iso
from ledger.writing import sources

IDS_MAX = 9_999_999_999


class ClusterWorkers(ApiView):
    """Lists the workers that hold GPUs of a cluster now: who reads the GPUs finds there whose they are."""

    scopes = frozenset({"ingest"})

    @extend_schema(**schema.CLUSTER_WORKERS)
    def get(self, request: Request, cluster: str) -> Response:
        of = cluster_of(token_of(request).organization, cluster)
        given = known(request.GET, ("limit", "after"))
        limit = integer(given, "limit", 1, WORKERS_MAX, 1_000)
        scope = Scope(scope_of(request).workspaces, of.pk)
        found = queries.held_workers(scope, limit + 1, integer(given, "after", 0, IDS_MAX, 0))
        following = None
        if len(found) > limit:
            said = urlencode({"limit": limit, "after": found[limit - 1].id})
            following = request.build_absolute_uri(f"{request.path}?{said}")
        workers = [sources.held_worker(worker) for worker in found[:limit]]
        return Response({"workers": workers, "at": iso(queries.now()), "next": following})


class ClusterSources(ApiView):
    """Lists the sources of a cluster: when each was heard, who is stale, whose list is held back."""

    scopes = frozenset({"ingest", "admin"})

    @extend_schema(**schema.CLUSTER_SOURCES)
    def get(self, request: Request, cluster: str) -> Response:
        of = cluster_of(of_organization(token_of(request)).organization, cluster)
        known(request.GET, ())
        told = [sources.source(one) for one in queries.sources_now([of.pk])]
        return Response({"sources": told, "at": iso(queries.now())})
