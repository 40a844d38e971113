"""The alerts of a workspace: which are firing, what a person does about one, and those that are over."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboards.alarms import told, watched_at
from dashboards.living import answer
from dashboards.pages import Pages
from dashboards.places import place_of, signed_in
from ledger import attention, queries
from ledger.access import Watched
from ledger.writing.alerts import ADVICE

ROWS = 50
FIRING_MAX = 200
HOURS = ((1, "1 hour"), (8, "8 hours"), (24, "a day"), (168, "a week"), (0, "no longer"))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def alerts(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the page; a form on it acknowledges an alert, or silences it for some hours."""
    place = place_of(request.user, organization, workspace)
    watched = watched_at(request.user, place)
    if request.method == "POST":
        act(request, watched)
        return redirect(place.alerts)
    page = number_of(request.GET.get("page", "")) or 1
    over = queries.alerts(watched, firing=False, limit=ROWS, offset=(page - 1) * ROWS)
    pages = Pages(over.count, page, ROWS)
    if page > pages.last:
        return redirect(f"{place.alerts}?page={pages.last}")
    firing = queries.alerts(watched, firing=True, limit=FIRING_MAX)
    context = {
        "now": queries.now(),
        "firing": [told(row) for row in firing.rows],
        "over": [told(row) for row in over.rows],
        "pages": pages,
        "hours": HOURS,
        "rules": ADVICE,
    }
    return answer(request, place, "Alerts", "alerts.html", context)


def number_of(text: str) -> int:
    """Return a small whole number that an address or a form says; 0 for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0


def act(request: HttpRequest, watched: Watched) -> None:
    """Do what a form asks for. Raises Http404 for an alert that there is not or that is none of the person's."""
    said: dict[str, Any] = request.POST.dict()
    found = queries.one_alert(watched, number_of(said.get("alert", "")))
    if found is None:
        raise Http404("There is no such page.")
    if said.get("action") == "acknowledge":
        attention.acknowledge(found.id, request.user.get_username())
        messages.success(request, "Acknowledged: others see that you know.")
    elif said.get("action") == "silence" and said.get("hours") in {str(hours) for hours, _ in HOURS}:
        attention.silence(found.id, int(said["hours"]))
        messages.success(request, "Silenced." if said["hours"] != "0" else "No longer silenced.")
    else:
        raise Http404("There is no such page.")
