"""Who is told of a workspace's alerts, and how: its channels, and what became of what they were to tell."""

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboards.channel_form import ChannelForm
from dashboards.menu import menu_of
from dashboards.places import place_of, room_of, signed_in
from dashboards.views.alerts import number_of
from ledger import channels, queries
from ledger.channels import Refused

if TYPE_CHECKING:
    from ledger.access import Workspace


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def notifications(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the page: members read it, who runs the organization changes it."""
    place = place_of(request.user, organization, workspace)
    room = room_of(request.user, organization, workspace)
    assert room.workspace is not None, "a workspace's room has one"
    told: dict[str, Any] | None = {}
    if request.method == "POST":
        action = ACTIONS.get(request.POST.get("action", "")) if room.manages else None
        if action is None:
            raise Http404("There is no such page.")
        told = action(request, room.workspace)
    if told is None:
        return redirect(place.notifications)
    context = {
        "place": place,
        "menu": menu_of(request.user, place, "Settings"),
        "room": room,
        "channels": channels.listed(room.workspace),
        "recent": channels.recent(room.workspace),
        "form": ChannelForm(),
        "mail": bool(settings.EMAIL_HOST),
        "now": queries.now(),
    }
    response = render(request, "dashboards/settings/notifications.html", context | told)
    response.status_code = 400 if told.get("wrong") else 200
    return response


def add(request: HttpRequest, workspace: "Workspace") -> dict[str, Any] | None:
    form = ChannelForm(request.POST)
    if form.is_valid():
        try:
            networks, ports = tuple(settings.NOTIFY_NETWORKS), tuple(settings.NOTIFY_PORTS)
            secret = channels.add(workspace, **form.cleaned_data, networks=networks, ports=ports)
        except Refused as why:
            form.add_error("target", f"{str(why).capitalize()}.")
        else:
            messages.success(request, f"{form.cleaned_data['name']} is told from now on. Send it a test.")
            return {"secret": secret} if secret else None
    return {"form": form, "wrong": True}


def remove(request: HttpRequest, workspace: "Workspace") -> None:
    if not channels.remove(workspace, number_of(request.POST.get("channel", ""))):
        raise Http404("There is no such page.")
    messages.success(request, "It is told no more.")


def test(request: HttpRequest, workspace: "Workspace") -> None:
    if not channels.test(workspace, number_of(request.POST.get("channel", ""))):
        raise Http404("There is no such page.")
    messages.success(request, "A test is on its way; what became of it stands below within a minute.")


ACTIONS = {"add": add, "remove": remove, "test": test}
