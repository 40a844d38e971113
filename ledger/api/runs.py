"""Runs: which there are, one of them, its ledger, its workers' timeline; and workers that are stalled now."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import queries
from ledger.access import Scope
from ledger.api import schema
from ledger.api.authentication import exact, scope_of
from ledger.api.base import csv_answer, page_at
from ledger.api.goodput import Ledgers
from ledger.api.problems import Problem
from ledger.api.reading import between, known, page_of, page_of_workers, run_question, runs_question
from ledger.decode.values import iso
from ledger.queries import RunKey
from ledger.writing import ledgers, progress, runs

SEGMENTS_MAX = 100_000
LOSSES_MAX = 20


def run_of(scope: Scope, name: str) -> RunKey:
    """Return the run of that uid, else the newest of that name, of those that may be seen. Raises Http404."""
    found = queries.find_run(scope, exact(name))
    if found is None:
        raise Http404
    return found


class Runs(Ledgers):
    """Lists runs, those that go on first, then the newest."""

    @extend_schema(**schema.RUNS)
    def get(self, request: Request) -> Response:
        asked = runs_question(request.GET)
        page = queries.runs(scope_of(request), asked.filters, asked.going, asked.limit, asked.offset)
        end = asked.offset + asked.limit
        said = {**request.GET.dict(), "limit": asked.limit}
        following = page_at(request, end, said) if end < page.count else None
        if asked.format == "csv":
            return csv_answer(runs.csv_of(page.rows), "runs", following)
        return Response({"runs": [runs.run(row) for row in page.rows], "count": page.count, "next": following})


class OneRun(Ledgers):
    """Answers with a run's labels, what is true of it, and its workers as they are now."""

    @extend_schema(**schema.RUN)
    def get(self, request: Request, run: str) -> Response:
        scope = scope_of(request)
        found = run_of(scope, run)
        limit, offset = page_of(known(request.GET, ("limit", "offset")))
        workers, end = queries.run_workers(found), offset + limit
        following = page_at(request, end, {"limit": limit}) if end < len(workers) else None
        page = runs.Page(offset, end, following)
        row, said = queries.run_row(scope, found), queries.run_conditions(found)
        window = queries.run_window(found)
        lost = queries.losses(found, window.start, window.end, LOSSES_MAX)
        return Response(runs.run_with_workers(row, workers, page, said, lost.rows))


class RunGoodput(Ledgers):
    """Answers with the ledger of one run, the same as its only row and as the total."""

    @extend_schema(**schema.RUN_GOODPUT)
    def get(self, request: Request, run: str) -> Response:
        scope = scope_of(request)
        found = run_of(scope, run)
        asked = run_question(request.GET, queries.now())
        answer = queries.run_goodput(scope, found, asked.window)
        if asked.format == "csv":
            return csv_answer(ledgers.csv_of(answer, asked.unit), "goodput-of-run")
        return Response(ledgers.envelope(answer, asked.unit, None))


class RunTimeline(Ledgers):
    """Answers with where each worker of a run was, and in which category, from when to when."""

    @extend_schema(**schema.RUN_TIMELINE)
    def get(self, request: Request, run: str) -> Response:
        found = run_of(scope_of(request), run)
        told = queries.timeline(found, *between(request.GET), SEGMENTS_MAX + 1)
        if sum(len(lane) for _, lane in told.workers) > SEGMENTS_MAX:
            raise Problem(
                400, f"There are more than {SEGMENTS_MAX:,} segments; say a start and an end closer together."
            )
        return Response(runs.timeline(told))


class Workers(Ledgers):
    """Lists the workers that are stalled now, the longest first, or those slower than their gang, the slowest first."""

    @extend_schema(**schema.WORKERS)
    def get(self, request: Request) -> Response:
        state, limit, offset = page_of_workers(request.GET)
        found = _workers(scope_of(request), state, limit + 1, offset)
        said = {"state": state, "limit": limit}
        following = page_at(request, offset + limit, said) if len(found) > limit else None
        return Response({"workers": found[:limit], "at": iso(queries.now()), "next": following})


def _workers(scope: Scope, state: str, limit: int, offset: int) -> list[dict[str, Any]]:
    if state == "stalled":
        return [runs.stalled_worker(worker) for worker in queries.stalled_now(scope, limit, offset)]
    return [progress.straggler(worker) for worker in queries.stragglers_now(scope, limit, offset)]
