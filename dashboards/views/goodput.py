"""The ledger of a workspace or of a cluster: who needs somebody now, five figures, and where each row's time went."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards import downloads
from dashboards.alarms import firing
from dashboards.capacity import capacity_part
from dashboards.connect import connecting
from dashboards.filters import Shown, shown
from dashboards.heard import heard_part
from dashboards.ledger_page import ledger_part
from dashboards.living import answer
from dashboards.places import ClusterPlace, Place, cluster_of, narrowed, place_of, signed_in
from dashboards.rows import Leads
from dashboards.sparks import bucket_size
from dashboards.stalled import LIMIT, stalled
from dashboards.straggling import straggling
from ledger import queries
from ledger.access import Scope


@require_safe
@never_cache
@signed_in
def goodput(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the page, the same as CSV or JSON by `format=`, and its living part alone to htmx."""
    place = place_of(request.user, organization, workspace)
    return page(request, place, Leads(organization, place))


@require_safe
@never_cache
@signed_in
def cluster_goodput(request: HttpRequest, organization: str, cluster: str) -> HttpResponse:
    """Serve the same of a whole cluster, every workspace of its organization together."""
    place = cluster_of(request.user, organization, cluster)
    return page(request, place, Leads(organization, place, among=True))


def page(request: HttpRequest, place: Place | ClusterPlace, leads: Leads) -> HttpResponse:
    now = queries.now()
    wanted = shown(request.GET, now)
    place = narrowed(place, wanted.cluster)
    assert place.scope is not None, "a place that was let through has a scope"
    if wanted.format != "html":
        return downloads.respond(place.scope, wanted)
    ledger = goodput_part(place.scope, wanted, now, leads)
    if ledger["pages"].page > ledger["pages"].last:
        return redirect(request.path + wanted.link(page=ledger["pages"].last))
    around = {"now": now, "firing": firing(request.user, place), **connecting(request.build_absolute_uri("/"), place)}
    return answer(request, place, "Goodput", "goodput.html", around | ledger, wanted)


def goodput_part(scope: Scope, wanted: Shown, now: int, leads: Leads) -> dict[str, Any]:
    """Return what the living part of the page shows."""
    told = queries.sums(scope, wanted.window, wanted.narrowed, bucket_size(wanted.window))
    ledger = ledger_part(scope, wanted, now, leads, told)
    more: dict[str, Any] = {}
    if leads.among:
        more = {"capacity": capacity_part(scope, leads), "sources": heard_part(scope.cluster, now)}
    current = {"stalled": stalled(queries.stalled_now(scope, limit=LIMIT)), "stragglers": straggling(scope)}
    return ledger | more | current
