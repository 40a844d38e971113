"""The runs of a workspace, and the page of one: its figures, what it lost and why, its timeline, its workers."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards.bars import bar
from dashboards.figures import Measured
from dashboards.filters import PAGE_ROWS, Shown, shown
from dashboards.lanes import axis, lanes, natural
from dashboards.lost import SHOWN, SHOWN_MAX, shown_losses
from dashboards.menu import menu_of
from dashboards.pages import Pages
from dashboards.places import Place, place_of, signed_in
from dashboards.rows import parts
from dashboards.states import state_of
from dashboards.zoom import MINUTE, Zoom, zoom
from ledger import queries
from ledger.access import Scope
from ledger.core.windows import HOUR, Window, ceil_hour
from ledger.queries import Filters, RunKey, RunRow, RunWorker

LATE_AFTER_MS = 5 * 60_000


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
    return answer(request, place, "dashboards/runs.html", wanted, context | {"now": now})


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
    limit = SHOWN_MAX if request.GET.get("losses") == "all" else SHOWN
    context = run_part(place, place.scope, found, wanted, zoom_of(request, wanted, end), now, limit)
    return answer(request, place, "dashboards/run.html", wanted, context | {"now": now})


def answer(request: HttpRequest, place: Place, template: str, wanted: Shown, context: dict[str, Any]) -> HttpResponse:
    """Return a page, or its living part alone to htmx."""
    around = {
        "place": place,
        "menu": menu_of(request.user, place, "Runs"),
        "shown": wanted,
        "layout": "bare.html" if request.headers.get("HX-Request") else "base.html",
    }
    response = render(request, template, around | context, status=400 if wanted.problems else 200)
    patch_vary_headers(response, ["HX-Request"])
    return response


def whole_of(run: RunKey, end: int) -> Window:
    """Return the hours of a run, up to the one in which it ended."""
    kept = queries.run_window(run)
    return Window(kept.start, max(min(ceil_hour(end), kept.end), kept.start + HOUR))


def zoom_of(request: HttpRequest, wanted: Shown, end: int) -> Zoom:
    """Return what the timeline shows: the window as far as the run has come, or a part of it."""
    window = wanted.window
    last = end if window.start + MINUTE < end < window.end else window.end
    return zoom(request.GET, wanted, (window.start, last))


def run_part(
    place: Place, scope: Scope, run: RunKey, wanted: Shown, part: Zoom, now: int, limit: int
) -> dict[str, Any]:
    """Return what the page shows; the number of queries does not depend on the run's workers."""
    row = queries.run_row(scope, run)
    answer = queries.run_goodput(scope, run, wanted.window)
    total = answer.total
    workers = sorted(queries.run_workers(run), key=lambda worker: natural(worker.name))
    lost = queries.losses(run, wanted.window.start, wanted.window.end, limit=limit)
    pages = Pages(len(workers), max(wanted.page, 1), PAGE_ROWS)
    return {
        "run": row,
        "state": state_of(row),
        "attempts": max((worker.attempt for worker in workers), default=1),
        "threshold": threshold(row, total.goodput),
        "answer": answer,
        "partial": wanted.window.start < answer.counted_until < wanted.window.end and row.going,
        "late": now - answer.counted_until > LATE_AFTER_MS,
        "figures": Measured(total).five(),
        "whole": total,
        "whole_bar": bar(total, total.asked, "whole"),
        "parts": parts(total, wanted),
        "losses": shown_losses(lost.rows, total.lost, part, now),
        "losses_more": lost.count - len(lost.rows),
        "losses_all": f"?{urlencode(wanted.state | {'losses': 'all'})}#losses",
        "zoom": part,
        "lanes": lanes(queries.timeline(run, part.start, part.end), part, now),
        "axis": axis(part, now),
        "workers": shown_workers(workers, pages),
        "pages": pages,
        "here": place.run(row.uid),
        "ledger": f"{place.address}?{urlencode({'by': 'machine', 'run': row.uid})}",
    }


def shown_workers(workers: Sequence[RunWorker], pages: Pages) -> Sequence[RunWorker]:
    return workers[pages.first_row - 1 : pages.last_row]


def threshold(run: RunRow, goodput: Fraction | None) -> str:
    """Say whether the run's least goodput is met; "" where none was set or nothing was held."""
    if run.min_goodput_milli is None or goodput is None:
        return ""
    least = Fraction(run.min_goodput_milli, 1000)
    return f"{'at or over' if goodput >= least else 'under'} the least goodput of {round(least * 100)} %"
