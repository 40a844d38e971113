"""The last eight weeks of a workspace or of a cluster: where the time of each went, as a chart and as a table."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards import charts, downloads
from dashboards.bars import bar
from dashboards.capacity import capacity_weeks
from dashboards.connect import connecting
from dashboards.filters import GROUPINGS, Shown, shown
from dashboards.ledger_page import chips
from dashboards.living import answer
from dashboards.places import ClusterPlace, Place, cluster_of, narrowed, place_of, signed_in
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
    now = queries.now()
    asked = shown(request.GET, now)
    place = narrowed(place, asked.cluster)
    assert place.scope is not None, "a place that was let through has a scope"
    wanted = replace(asked, window=Window.last_weeks(now, WEEKS), range="7d", start="", end="")
    if wanted.format != "html":
        return downloads.weekly(place.scope, wanted)
    around = {"now": now, **connecting(request.build_absolute_uri("/"), place)}
    return answer(request, place, "By week", "weekly.html", around | weekly_part(place, place.scope, wanted), wanted)


def weekly_part(place: Place | ClusterPlace, scope: Scope, wanted: Shown) -> dict[str, Any]:
    """Return what the living part of the page shows; the number of queries does not depend on the rows."""
    found = queries.weekly(scope, wanted.window, by=wanted.by, filters=wanted.filters, sort=wanted.sort, limit=ROWS)
    weeks = shown_weeks(found, wanted, place)
    return {
        "answer": found,
        "first_hour": queries.first_hour(scope),
        "weeks": weeks,
        "capacity_weeks": capacity_weeks(scope, found) if isinstance(place, ClusterPlace) else (),
        "figure": charts.stacked(weeks),
        "whole": found.total,
        "whole_bar": bar(found.total, found.total.asked),
        "total": sum_row(
            found.total,
            "Total",
            "total",
            wanted,
            found.total.asked,
            address=place.address,
            cost=found.costs.whole if found.costs else None,
        ),
        "parts": parts(found.total, wanted),
        "groupings": GROUPINGS,
        "columns": COLUMNS,
        "numbers": NUMBERS,
        "chips": chips(scope, wanted),
    }
