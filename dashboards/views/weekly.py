"""The last eight weeks of a workspace or of a cluster: where the time of each went, as a chart and as a table."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards import charts, downloads
from dashboards.bars import bar
from dashboards.capacity import capacity_weeks
from dashboards.connect import connecting
from dashboards.filters import GROUPINGS, Shown, shown
from dashboards.ledger_page import chips
from dashboards.menu import menu_of
from dashboards.places import ClusterPlace, Place, cluster_of, place_of, signed_in
from dashboards.rows import COLUMNS, NUMBERS, parts, sum_row
from dashboards.weeks import ROWS, WEEKS, shown_weeks
from ledger import queries
from ledger.access import Scope
from ledger.core.windows import Window


@require_safe
@never_cache
@signed_in
def weekly(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the page, the same as CSV or JSON by `format=`, and its living part alone to htmx."""
    return page(request, place_of(request.user, organization, workspace))


@require_safe
@never_cache
@signed_in
def cluster_weekly(request: HttpRequest, organization: str, cluster: str) -> HttpResponse:
    """Serve the same of a whole cluster, with its capacity."""
    return page(request, cluster_of(request.user, organization, cluster))


def page(request: HttpRequest, place: Place | ClusterPlace) -> HttpResponse:
    assert place.scope is not None, "a place that was let through has a scope"
    now = queries.now()
    asked = shown(request.GET, now)
    wanted = replace(asked, window=Window.last_weeks(now, WEEKS), range="7d", start="", end="")
    if wanted.format != "html":
        return downloads.weekly(place.scope, wanted)
    around: dict[str, Any] = {
        "place": place,
        "menu": menu_of(request.user, place, "By week"),
        "shown": wanted,
        "now": now,
        "layout": "bare.html" if request.headers.get("HX-Request") else "base.html",
    }
    around |= connecting(request.build_absolute_uri("/"), place)
    context = around | weekly_part(place, place.scope, wanted)
    response = render(request, "dashboards/weekly.html", context, status=400 if wanted.problems else 200)
    patch_vary_headers(response, ["HX-Request"])
    return response


def weekly_part(place: Place | ClusterPlace, scope: Scope, wanted: Shown) -> dict[str, Any]:
    """Return what the living part of the page shows; the number of queries does not depend on the rows."""
    answer = queries.weekly(scope, wanted.window, by=wanted.by, filters=wanted.filters, sort=wanted.sort, limit=ROWS)
    weeks = shown_weeks(answer, wanted, place)
    return {
        "answer": answer,
        "first_hour": queries.first_hour(scope),
        "weeks": weeks,
        "capacity_weeks": capacity_weeks(scope, answer) if isinstance(place, ClusterPlace) else (),
        "figure": charts.stacked(weeks),
        "whole": answer.total,
        "whole_bar": bar(answer.total, answer.total.asked),
        "total": sum_row(
            answer.total,
            "Total",
            "total",
            wanted,
            answer.total.asked,
            address=place.address,
            cost=answer.costs.whole if answer.costs else None,
        ),
        "parts": parts(answer.total, wanted),
        "groupings": GROUPINGS,
        "columns": COLUMNS,
        "numbers": NUMBERS,
        "chips": chips(scope, wanted),
    }
