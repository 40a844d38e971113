"""The machines and pools of a workspace or of a cluster: which cost most, and the page of one of them.

A workspace's pages tell what that workspace did with a machine, and one that it never held is no page; what there is of
a machine besides, and who else holds it, is for who sees the whole cluster.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards import downloads
from dashboards.capacity import ShownCapacity, shown_capacity
from dashboards.filters import GROUPINGS, Shown, shown
from dashboards.heat import heat
from dashboards.ledger_page import ledger_part
from dashboards.living import answer
from dashboards.lost import SHOWN, SHOWN_MAX
from dashboards.places import ClusterPlace, Place, cluster_of, narrowed, place_of, signed_in
from dashboards.rows import Leads, ShownRow
from dashboards.sparks import bucket_size
from dashboards.straggled import straggled
from dashboards.troubles import shown_troubles
from ledger import queries
from ledger.queries import Failures, Filters, Spot

TITLES = {"machine": "Machines", "pool": "Pools"}


@require_safe
@never_cache
@signed_in
def spots(request: HttpRequest, organization: str, workspace: str, kind: str) -> HttpResponse:
    """Serve the list of the machines or pools that a workspace held, the costliest first."""
    return listed(request, place_of(request.user, organization, workspace), kind)


@require_safe
@never_cache
@signed_in
def cluster_spots(request: HttpRequest, organization: str, cluster: str, kind: str) -> HttpResponse:
    """Serve the same of a whole cluster, with what there is of each now."""
    return listed(request, cluster_of(request.user, organization, cluster), kind)


@require_safe
@never_cache
@signed_in
def spot(request: HttpRequest, organization: str, workspace: str, kind: str, name: str) -> HttpResponse:
    """Serve the page of a machine or a pool. Raises Http404 when the workspace never held it."""
    return page(request, place_of(request.user, organization, workspace), kind, name)


@require_safe
@never_cache
@signed_in
def cluster_spot(request: HttpRequest, organization: str, cluster: str, kind: str, name: str) -> HttpResponse:
    """Serve the same of all who held it, with what there is of it."""
    return page(request, cluster_of(request.user, organization, cluster), kind, name)


def listed(request: HttpRequest, place: Place | ClusterPlace, kind: str) -> HttpResponse:
    """Return the list of a place."""
    now = queries.now()
    wanted = replace(shown(request.GET, now, by=kind), by=kind)
    place = narrowed(place, wanted.cluster)
    assert place.scope is not None, "a place that was let through has a scope"
    if wanted.format != "html":
        return downloads.respond(place.scope, wanted)
    told = queries.sums(place.scope, wanted.window, wanted.narrowed, bucket_size(wanted.window))
    ledger = ledger_part(place.scope, wanted, now, leads_of(place), told, groupings=(kind,))
    more = {"kind": kind, "listed": with_more(place, kind, wanted, ledger["rows"]), "now": now}
    return answered(request, place, "spots.html", kind, wanted, ledger | more)


def with_more(
    place: Place | ClusterPlace, kind: str, wanted: Shown, rows: Sequence[ShownRow]
) -> list[tuple[ShownRow, Failures | None, ShownCapacity | None]]:
    """Return each row with the failures on its machine and, on a cluster's pages, with what there is of it now."""
    assert place.scope is not None, "a place that was let through has a scope"
    names = [row.name for row in rows]
    failed = queries.failures(place.scope, wanted.window, [row.pk for row in rows]) if kind == "machine" else {}
    there: dict[str, ShownCapacity] = {}
    if isinstance(place, ClusterPlace):
        found = queries.capacity(place.scope.cluster, kind, names=names if kind == "machine" else None)
        there = {each.name: shown_capacity(each) for each in found}
    return [(row, failed.get(row.pk), there.get(row.name)) for row in rows]


def page(request: HttpRequest, place: Place | ClusterPlace, kind: str, name: str) -> HttpResponse:
    """Return the page of one."""
    is_whole = isinstance(place, ClusterPlace)
    now = queries.now()
    within = Filters(machine=name) if kind == "machine" else Filters(pool=name)
    wanted = shown(request.GET, now, within=within, by="run" if kind == "machine" else "machine")
    place = narrowed(place, wanted.cluster)
    assert place.scope is not None, "a place that was let through has a scope"
    found = queries.find_spots(place.scope, kind, name, whole=is_whole)
    if not found:
        raise Http404("There is no such page.")
    if wanted.format != "html":
        return downloads.respond(place.scope, wanted)
    hourly = queries.hourly(place.scope, wanted.window, wanted.narrowed, bucket_size(wanted.window))
    groupings = [by for by in GROUPINGS if by != kind and (is_whole or by != "workspace")]
    ledger = ledger_part(place.scope, wanted, now, leads_of(place, narrows=False), hourly, groupings)
    more = {
        "kind": kind,
        "name": name,
        "clusters": sorted({each.cluster for each in found}),
        "pool": found[0].pool if kind == "machine" else "",
        "heat": heat(hourly, wanted, ledger["answer"].counted_until),
        "capacity": capacity_of(place, kind, name) if is_whole else None,
        "straggled": straggled(place.scope, name, place.organization, now) if kind == "machine" else None,
        "now": now,
    }
    troubles = troubles_part(request, place, wanted, found, now)
    return answered(request, place, "spot.html", kind, wanted, ledger | more | troubles)


def leads_of(place: Place | ClusterPlace, *, narrows: bool = True) -> Leads:
    return Leads(place.organization, place, among=isinstance(place, ClusterPlace), narrows=narrows)


def troubles_part(
    request: HttpRequest, place: Place | ClusterPlace, wanted: Shown, spots: tuple[Spot, ...], now: int
) -> dict[str, Any]:
    """Return what went wrong there, the first of it or all when `troubles=all` asks for it."""
    assert place.scope is not None, "a place that was let through has a scope"
    limit = SHOWN_MAX if request.GET.get("troubles") == "all" else SHOWN
    found = queries.troubles(place.scope, wanted.window, spots, limit)
    return {
        "troubles": shown_troubles(
            found.rows, found.cost, place, place.organization, now, wanted.elsewhere(wanted.cluster)
        ),
        "troubles_more": found.count - len(found.rows),
        "troubles_all": f"?{urlencode(wanted.state | {'troubles': 'all'})}#troubles",
        "among": isinstance(place, ClusterPlace),
    }


def capacity_of(place: Place | ClusterPlace, kind: str, name: str) -> ShownCapacity | None:
    """Return what there is of a machine or a pool now; None when nothing is known of it."""
    assert place.scope is not None, "a place that was let through has a scope"
    where = {"machine": name} if kind == "machine" else {"pool": name}
    found = queries.capacity(place.scope.cluster, kind, **where)
    return shown_capacity(found[0]) if found else None


def answered(
    request: HttpRequest, place: Place | ClusterPlace, template: str, kind: str, wanted: Shown, context: dict[str, Any]
) -> HttpResponse:
    """Return a page, or its living part alone to htmx."""
    pages = context["pages"]
    if pages.page > pages.last:
        return redirect(request.path + wanted.link(page=pages.last))
    return answer(request, place, TITLES[kind], template, context | {"title": TITLES[kind]}, wanted)
