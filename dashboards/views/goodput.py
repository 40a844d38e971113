"""The ledger of a workspace or of a cluster: who needs somebody now, five figures, and where each row's time went."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards import downloads
from dashboards.bars import bar
from dashboards.connect import first_observation
from dashboards.figures import Measured
from dashboards.filters import GROUPINGS, LENGTHS, PAGE_ROWS, Shown, shown
from dashboards.menu import menu_of
from dashboards.moments import iso
from dashboards.pages import Pages
from dashboards.places import ClusterPlace, Place, cluster_of, place_of, signed_in
from dashboards.rows import COLUMNS, NUMBERS, Leads, parts, shown_rows, total_row
from dashboards.sparks import buckets
from dashboards.stalled import LIMIT, stalled
from ledger import queries
from ledger.access import Scope
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, MAX_DAYS, ceil_hour
from ledger.queries import Answer, Filters

LATE_AFTER_MS = 5 * 60_000


@require_safe
@never_cache
@signed_in
def goodput(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the page, the same as CSV or JSON by `format=`, and its living part alone to htmx."""
    return page(request, place_of(request.user, organization, workspace), Leads(organization))


@require_safe
@never_cache
@signed_in
def cluster_goodput(request: HttpRequest, organization: str, cluster: str) -> HttpResponse:
    """Serve the same of a whole cluster, every workspace of its organization together."""
    return page(request, cluster_of(request.user, organization, cluster), Leads(organization, among=True))


def page(request: HttpRequest, place: Place | ClusterPlace, leads: Leads) -> HttpResponse:
    assert place.scope is not None, "a place that was let through has a scope"
    now = queries.now()
    wanted = shown(request.GET, now)
    if wanted.format != "html":
        return downloads.respond(place.scope, wanted)
    ledger = ledger_part(place.scope, wanted, now, leads)
    if ledger["pages"].page > ledger["pages"].last:
        return redirect(request.path + wanted.link(page=ledger["pages"].last))
    around = {
        "place": place,
        "menu": menu_of(request.user, place, "Goodput"),
        "shown": wanted,
        "now": now,
        "layout": "bare.html" if request.headers.get("HX-Request") else "base.html",
    }
    if isinstance(place, Place):
        address = request.build_absolute_uri("/")
        around["connect"] = first_observation(address, place.organization, place.workspace)
    status = 400 if wanted.problems else 200
    response = render(request, "dashboards/goodput.html", around | ledger, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def ledger_part(scope: Scope, wanted: Shown, now: int, leads: Leads) -> dict[str, Any]:
    """Return what the living part of the page shows; the number of queries does not depend on the rows."""
    answer = queries.goodput(
        scope,
        wanted.window,
        by=wanted.by,
        filters=wanted.filters,
        sort=wanted.sort,
        limit=PAGE_ROWS,
        offset=wanted.offset,
    )
    first_hour = queries.first_hour(scope)
    whole = total(scope, wanted, answer)
    partial = wanted.window.start < answer.counted_until < wanted.window.end
    measured = Measured(whole, before(scope, wanted, first_hour), trend(scope, wanted), partial)
    return {
        "answer": answer,
        "first_hour": first_hour,
        "figures": measured.five(),
        "whole": whole,
        "rows": shown_rows(answer, wanted, leads),
        "total": total_row(answer, wanted),
        "pages": Pages(answer.count, max(wanted.page, 1), PAGE_ROWS),
        "stalled": stalled(queries.stalled_now(scope, limit=LIMIT)),
        "partial": partial,
        "late": now - answer.counted_until > LATE_AFTER_MS,
        "whole_bar": bar(whole, whole.asked, "whole"),
        "parts": parts(whole, wanted),
        "groupings": GROUPINGS,
        "ranges": LENGTHS,
        "columns": COLUMNS,
        "numbers": NUMBERS,
        "chips": chips(scope, wanted),
        "everything": since_ever(wanted, first_hour, now),
    }


def total(scope: Scope, wanted: Shown, answer: Answer) -> Ledger:
    """Return what the figures are of: all rows, also those that a search leaves out."""
    if not wanted.q:
        return answer.total
    return queries.goodput(scope, wanted.window, filters=wanted.narrowed, limit=1).total


def before(scope: Scope, wanted: Shown, first_hour: int | None) -> Ledger | None:
    """Return the ledger of the period before; None when it was not counted from its start on."""
    window = wanted.window.before()
    if first_hour is None or first_hour > window.start:
        return None
    return queries.goodput(scope, window, filters=wanted.narrowed, limit=1).total


def trend(scope: Scope, wanted: Shown) -> list[Ledger]:
    """Return the window bucket by bucket; nothing of a part of a workspace, whose hours are not kept apart."""
    return [] if wanted.narrowings else buckets(queries.hourly(scope, wanted.window), wanted.window)


def chips(scope: Scope, wanted: Shown) -> list[tuple[str, str, str]]:
    """Return what the rows are narrowed to: the kind, the name, and the address without it."""
    return [
        (kind, run_name(scope, wanted) if kind == "run" else value, wanted.link(**{kind: ""}))
        for kind, value in wanted.narrowings
    ]


def run_name(scope: Scope, wanted: Shown) -> str:
    """Return the name of the run that the rows are narrowed to, by its uid where it has no time in the window."""
    only = queries.goodput(scope, wanted.window, by="run", filters=Filters(run=wanted.run), limit=1)
    return only.rows[0].name if only.rows else wanted.run


def since_ever(wanted: Shown, first_hour: int | None, now: int) -> str:
    """Return the address of the widest range that has numbers."""
    if first_hour is None:
        return wanted.link()
    start = max(first_hour, ceil_hour(now) - MAX_DAYS * DAY)
    return wanted.link(range="custom", start=iso(start), end=iso(ceil_hour(now)))
