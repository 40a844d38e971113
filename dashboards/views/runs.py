"""The runs of a workspace, and the page of one: its figures, what it lost and why, its timeline, its workers."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards.filters import PAGE_ROWS, Shown, shown
from dashboards.ledger_page import LATE_AFTER_MS
from dashboards.living import answer
from dashboards.pages import Pages
from dashboards.places import place_of, signed_in
from dashboards.rows import parts
from dashboards.sections import RunView, parts_of
from dashboards.states import state_of
from dashboards.zoom import MINUTE, Zoom, zoom
from ledger import queries
from ledger.core.windows import HOUR, Window, ceil_hour
from ledger.queries import Filters, RunKey


@require_safe
@never_cache
@signed_in
def runs(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the list, those that go on first."""
    place = place_of(request.user, organization, workspace)
    assert place.scope is not None, "a place that was let through has a scope"
    now = queries.now()
    wanted = shown(request.GET, now)
    filters = Filters(user=wanted.user, q=wanted.q)
    found = queries.runs(place.scope, filters, limit=PAGE_ROWS, offset=wanted.offset)
    context = {
        "rows": [(row, state_of(row), place.run(row.uid)) for row in found.rows],
        "pages": Pages(found.count, max(wanted.page, 1), PAGE_ROWS),
        "count": found.count,
    }
    return answer(request, place, "Runs", "runs.html", context | {"now": now}, wanted)


@require_safe
@never_cache
@signed_in
def run(request: HttpRequest, organization: str, workspace: str, run: str) -> HttpResponse:
    """Serve the page of a run, by its uid or its name. Raises Http404 when there is none that may be seen."""
    place = place_of(request.user, organization, workspace)
    assert place.scope is not None, "a place that was let through has a scope"
    found = queries.find_run(place.scope, run)
    if found is None:
        raise Http404("There is no such page.")
    now = queries.now()
    end = queries.run_end(found) or now
    wanted = shown(request.GET, now, whole_of(found, end))
    view = RunView(
        place=place,
        scope=place.scope,
        run=found,
        row=queries.run_row(place.scope, found),
        shown=wanted,
        zoom=zoom_of(request, wanted, end),
        answer=queries.run_goodput(place.scope, found, wanted.window),
        query=request.GET,
        now=now,
    )
    return answer(request, place, "Runs", "run.html", head_of(view) | {"sections": parts_of(view)}, wanted)


def head_of(view: RunView) -> dict[str, Any]:
    """Return what the head of the page says, and what fills the bars of all its parts."""
    return {
        "now": view.now,
        "run": view.row,
        "run_total": view.total,
        "state": state_of(view.row),
        "attempts": view.attempts,
        "count": len(view.workers),
        "verdicts": view.verdicts,
        "zoom": view.zoom,
        "answer": view.answer,
        "parts": parts(view.total, view.shown),
        "late": view.now - view.answer.counted_until > LATE_AFTER_MS,
        "ledger": f"{view.place.address}?{urlencode({'by': 'machine', 'run': view.row.uid})}",
    }


def whole_of(run: RunKey, end: int) -> Window:
    """Return the hours of a run, up to the one in which it ended."""
    kept = queries.run_window(run)
    return Window(kept.start, max(min(ceil_hour(end), kept.end), kept.start + HOUR))


def zoom_of(request: HttpRequest, wanted: Shown, end: int) -> Zoom:
    """Return what the timeline shows: the window as far as the run has come, or a part of it."""
    window = wanted.window
    last = end if window.start + MINUTE < end < window.end else window.end
    return zoom(request.GET, wanted, (window.start, last))
