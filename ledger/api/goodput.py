"""Ledgers out."""

from drf_spectacular.utils import extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.access import Scope
from ledger.api import schema
from ledger.api.authentication import TokenAuthentication, scope_of, scope_of_cluster
from ledger.api.base import ApiView, csv_answer, page_at
from ledger.api.reading import FILTERS, IN_CLUSTER, Question, question, weekly_question
from ledger.decode.values import iso
from ledger.writing import ledgers


class Ledgers(ApiView):
    """A view that shows ledgers to tokens and to people."""

    authentication_classes = (TokenAuthentication, SessionAuthentication)


class Goodput(Ledgers):
    """Answers with a ledger per workspace, run, machine, pool or user, and their total."""

    @extend_schema(**schema.GOODPUT)
    def get(self, request: Request) -> Response:
        return whole(request, scope_of(request))


class Weekly(Ledgers):
    """Answers with the same per ISO week."""

    @extend_schema(**schema.WEEKLY)
    def get(self, request: Request) -> Response:
        return by_week(request, scope_of(request))


class ClusterGoodput(Ledgers):
    """Answers for all of an organization on one of its clusters."""

    scopes = frozenset({"admin"})

    @extend_schema(**schema.CLUSTER_GOODPUT)
    def get(self, request: Request, organization: str, cluster: str) -> Response:
        return whole(request, scope_of_cluster(request, organization, cluster), IN_CLUSTER)


class ClusterWeekly(Ledgers):
    """Answers for all of an organization on one of its clusters, per ISO week."""

    scopes = frozenset({"admin"})

    @extend_schema(**schema.CLUSTER_WEEKLY)
    def get(self, request: Request, organization: str, cluster: str) -> Response:
        return by_week(request, scope_of_cluster(request, organization, cluster), IN_CLUSTER)


def whole(request: Request, scope: Scope, filters: tuple[str, ...] = FILTERS) -> Response:
    """Answer what is asked of the ledgers in a scope, by filters of these names."""
    asked = question(request.GET, queries.now(), filters)
    answer = queries.goodput(scope, asked.window, asked.by, asked.filters, asked.sort, asked.limit, asked.offset)
    following = next_page(request, asked) if asked.offset + asked.limit < answer.count else None
    if asked.format == "csv":
        return csv_answer(ledgers.csv_of(answer, asked.unit), f"goodput-by-{asked.by}", following)
    return Response(ledgers.envelope(answer, asked.unit, following))


def by_week(request: Request, scope: Scope, filters: tuple[str, ...] = FILTERS) -> Response:
    """Answer the same week by week."""
    asked = weekly_question(request.GET, queries.now(), filters)
    answer = queries.weekly(scope, asked.window, asked.by, asked.filters, asked.sort, asked.limit)
    if asked.format == "csv":
        return csv_answer(ledgers.weekly_csv_of(answer, asked.unit), f"goodput-weekly-by-{asked.by}")
    return Response(ledgers.weekly(answer, asked.unit))


def next_page(request: Request, asked: Question) -> str:
    """Return the address of the next page, of these very hours also when the clock goes on."""
    said = {name: text for name, text in request.GET.items() if name not in ("days", "weeks")}
    hours = {"start": iso(asked.window.start), "end": iso(asked.window.end)}
    return page_at(request, asked.offset + asked.limit, {**said, **hours, "limit": asked.limit})
