"""Reports of training code in, and what a run's input pipelines took."""

from typing import Any

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.api import schema
from ledger.api.authentication import scope_of
from ledger.api.base import ApiView
from ledger.api.bodies import body_of
from ledger.api.goodput import Ledgers
from ledger.api.observations import receipt_as_json
from ledger.api.reading import between, known
from ledger.api.runs import run_of
from ledger.api.shapes import INSTANT, reference
from ledger.core.windows import HOUR, ceil_hour, floor_hour
from ledger.pipeline.delivery import deliver
from ledger.pipeline.reports import decode
from ledger.queries import RunKey
from ledger.writing import progress

BATCHES: dict[str, Any] = {
    "operation_id": "batches",
    "summary": "Report of a run's training: steps, phases, input pipelines; again changes nothing",
    "request": {"application/json": reference("Reports")},
    "responses": {202: reference("Receipt"), **schema.problems(400, 404, 413, 415)},
}
PIPELINE: dict[str, Any] = {
    "operation_id": "pipeline",
    "summary": "What the input pipelines of a run's workers took, the slowest first",
    "parameters": [
        OpenApiParameter("start", INSTANT, description="Floored to the hour; the run's first when left out."),
        OpenApiParameter("end", INSTANT, description="Ceiled to the hour; that of the running hour when left out."),
    ],
    "responses": {200: reference("Pipeline"), **schema.problems(400, 404)},
}


class RunBatches(ApiView):
    """Takes reports of a run's training code."""

    scopes = frozenset({"ingest"})
    throttle = "ingest"

    @extend_schema(**BATCHES)
    def post(self, request: Request, run: str) -> Response:
        found = run_of(scope_of(request), run)
        known(request.GET, ())
        reports = decode(body_of(request._request), found.uid)
        return Response(receipt_as_json(deliver(found, reports)), 202)


class RunPipeline(Ledgers):
    """Answers with the input pipelines of a run's workers, the slowest first."""

    @extend_schema(**PIPELINE)
    def get(self, request: Request, run: str) -> Response:
        found = run_of(scope_of(request), run)
        start, end = hours_of(found, request.GET)
        return Response(progress.pipeline(queries.pipeline(found, start, end), start, end))


def hours_of(run: RunKey, query: QueryDict) -> tuple[int, int]:
    """Read [start, end), widened to whole hours, ms; what is not said is the run's own. Raises Problem."""
    start, end = between(query)
    start, end = floor_hour(start), ceil_hour(end)
    if "start" in query and "end" in query:
        return start, end
    first, last = queries.pipeline_window(run)
    return (
        start if "start" in query else min(first, end - HOUR),
        end if "end" in query else max(last, start + HOUR),
    )
