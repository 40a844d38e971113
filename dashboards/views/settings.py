"""The settings of a workspace and of an organization: who is in, which tokens let programs in."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboards.forms import CurrencyForm, TokenForm
from dashboards.menu import menu_of
from dashboards.places import organization_of, place_of, room_of, rooms_of, signed_in
from dashboards.rooms import Room
from dashboards.views.alerts import number_of
from ledger import members, tokens
from ledger.members import Refusal

Action = Callable[[HttpRequest, Room], dict[str, Any] | None]


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def workspace_settings(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the settings of a workspace: its members read them, who runs its organization changes them."""
    place = place_of(request.user, organization, workspace)
    room = room_of(request.user, organization, workspace)
    around = {"place": place, "menu": menu_of(request.user, place, "Settings")}
    return served(request, room, "dashboards/settings/workspace.html", around)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def organization_settings(request: HttpRequest, organization: str) -> HttpResponse:
    """Serve the settings of an organization to who runs it."""
    place, row = organization_of(request.user, organization)
    around = {
        "place": place,
        "menu": menu_of(request.user, place, "Settings"),
        "rooms": rooms_of(row),
        "currency_form": CurrencyForm(initial={"currency": row.currency}),
    }
    return served(request, Room(row, None, manages=True, address=place.address), ORGANIZATION, around)


ORGANIZATION = "dashboards/settings/organization.html"


def served(request: HttpRequest, room: Room, template: str, around: dict[str, Any]) -> HttpResponse:
    """Do what was asked and answer with the page, by way of a redirect unless there is something to show once."""
    told: dict[str, Any] | None = {}
    if request.method == "POST":
        try:
            told = action_of(request, room)(request, room)
        except Refusal as refusal:
            messages.error(request, str(refusal))
            told = None
    if told is None:
        return redirect(room.address)
    response = render(request, template, around | shown(room) | told)
    response.status_code = 400 if told.get("wrong") else 200
    return response


def shown(room: Room) -> dict[str, Any]:
    """Return what the page lists; the number of queries does not depend on how many there are."""
    workspace = room.workspace
    return {
        "room": room,
        "members": [] if workspace is None else members.members_of(workspace),
        "admins": members.admins_of(room.organization),
        "invitations": members.invitations_of(room.organization, workspace) if room.manages else [],
        "invitation_days": members.INVITATION_DAYS,
        "tokens": [(row, room.may_end(row)) for row in tokens.listed(room.organization, workspace)],
        "token_form": TokenForm(scopes=room.scopes, initial={"scopes": ["read"]}),
    }


def action_of(request: HttpRequest, room: Room) -> Action:
    """Return what a form asks for. Raises Http404 for what there is not or who asks may not do."""
    action = request.POST.get("action", "")
    found = OF_EVERYBODY.get(action) or (OF_MANAGERS.get(action) if room.manages else None)
    if found is None:
        raise Http404("There is no such page.")
    return found


def said(request: HttpRequest, field: str) -> str:
    """Return what a form says of what there is already. Raises Http404 for what no text of the database is."""
    text = request.POST.get(field, "")
    if "\0" in text:
        raise Http404("There is no such page.")
    return text


def issue(request: HttpRequest, room: Room) -> dict[str, Any]:
    """Make a token and show it, this once."""
    form = TokenForm(request.POST, scopes=room.scopes)
    if not form.is_valid():
        return {"token_form": form, "wrong": True}
    plain = tokens.issue(room.organization, room.workspace, form.cleaned_data["scopes"], form.lifetime)
    return {"issued": plain, "issued_scopes": form.cleaned_data["scopes"], "base": request.build_absolute_uri("/")}


def revoke(request: HttpRequest, room: Room) -> None:
    key = said(request, "token")
    if tokens.revoke(room.organization, room.workspace, key, room.scopes):
        messages.success(request, f"{key}… lets nobody in any more.")


def invite(request: HttpRequest, room: Room) -> dict[str, Any]:
    """Make an invitation and show its address, this once."""
    plain = members.invite(room.organization, room.workspace, request.user.get_username())
    return {"invited": request.build_absolute_uri(reverse("invitation", args=[plain]))}


def withdraw(request: HttpRequest, room: Room) -> None:
    wanted = number_of(request.POST.get("invitation", ""))
    if members.withdraw(room.organization, room.workspace, wanted):
        messages.success(request, "The invitation lets nobody in any more.")


def remove(request: HttpRequest, room: Room) -> None:
    name = said(request, "name")
    if room.workspace is None:
        done = members.remove_admin(room.organization, name)
    else:
        done = members.remove_member(room.workspace, name)
    if done:
        messages.success(request, f"{name} is out.")


def currency(request: HttpRequest, room: Room) -> dict[str, Any] | None:
    if room.workspace is not None:
        raise Http404("There is no such page.")
    form = CurrencyForm(request.POST)
    if not form.is_valid():
        return {"currency_form": form, "wrong": True}
    room.organization.currency = form.cleaned_data["currency"]
    room.organization.save(update_fields=["currency"])
    messages.success(request, f"Prices are in {room.organization.currency}.")
    return None


OF_EVERYBODY: dict[str, Action] = {"issue": issue, "revoke": revoke}
OF_MANAGERS: dict[str, Action] = {"invite": invite, "withdraw": withdraw, "remove": remove, "currency": currency}
