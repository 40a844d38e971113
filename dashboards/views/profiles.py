"""Log profiles of a workspace's organization: the list, and one of them with its tester and, for managers, its form."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dashboards.logs import waterfall
from dashboards.menu import menu_of
from dashboards.places import Place, place_of, room_of, signed_in
from ledger.core.parts import part
from ledger.logs.picture import picture
from ledger.logs.profiles import DOCUMENT_BYTES_MAX, BadProfile, name_of
from ledger.logs.status import status
from ledger.logs.trying import LINES_MAX, line_as_json, trial
from ledger.measuring import profiles
from ledger.measuring.profiles import StoredProfile
from ledger.measuring.yaml_form import BadYaml, read, write

LINES_SHOWN = 200
PASTED_CHARACTERS_MAX = 2_000_000


@dataclass(frozen=True)
class Entry:
    """A profile in the list, with the address of its page."""

    profile: StoredProfile
    address: str
    about: str


@require_safe
@never_cache
@signed_in
def log_profiles(request: HttpRequest, organization: str, workspace: str) -> HttpResponse:
    """Serve the list, the organization's own first."""
    place = place_of(request.user, organization, workspace)
    room = room_of(request.user, organization, workspace)
    found = [*profiles.newest_of([room.organization.pk]), *profiles.builtins()]
    entries = [Entry(one, address_of(place, one.name), about(one)) for one in found]
    around = {"place": place, "menu": menu_of(request.user, place, "Settings"), "room": room, "entries": entries}
    return render(request, "dashboards/profiles.html", around)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def log_profile(request: HttpRequest, organization: str, workspace: str, name: str) -> HttpResponse:
    """Serve a profile: try it, changed or not, on pasted lines; save it, for who runs the organization."""
    place = place_of(request.user, organization, workspace)
    room = room_of(request.user, organization, workspace)
    found = profiles.find([room.organization.pk], name)
    if found is None:
        raise Http404("There is no such page.")
    text = write(found.document)
    shown: dict[str, Any] = {"text": text, "lines": "", "problem": ""}
    if request.method == "POST":
        action = request.POST.get("action", "")
        if action not in ("try", "save", "retire") or (action != "try" and not room.manages):
            raise Http404("There is no such page.")
        if action == "retire" and profiles.retire(room.organization, found.name):
            messages.success(request, f"{found.name} is out of the list. Measurements keep the version they use.")
            return redirect(place.log_profiles)
        given = {"text": request.POST.get("text", text)[:DOCUMENT_BYTES_MAX], "lines": request.POST.get("lines", "")}
        try:
            document = document_in(given["text"])
            if action == "save":
                kept = profiles.save(
                    room.organization, name_of(document) or name, document, request.user.get_username()
                )
                messages.success(request, f"{kept.name} is kept as version {kept.version}.")
                return redirect(address_of(place, kept.name))
            shown = given | tried(document, given["lines"])
        except (BadProfile, BadYaml) as error:
            shown = given | {"problem": f"{error}"}
    around = {
        "place": place,
        "menu": menu_of(request.user, place, "Settings"),
        "room": room,
        "profile": found,
        "about": about(found),
        "versions": [] if found.builtin else profiles.versions_of(room.organization.pk, found.name),
        "list": place.log_profiles,
        "lines_max": LINES_MAX,
    }
    response = render(request, "dashboards/profile.html", around | shown)
    response.status_code = 400 if shown.get("problem") else 200
    return response


def address_of(place: Place, name: str) -> str:
    return f"{place.log_profiles}/{part(name)}"


def about(profile: StoredProfile) -> str:
    """Return what a profile says of itself."""
    spec = profile.document.get("spec", profile.document)
    said = spec.get("description", "") if isinstance(spec, dict) else ""
    return said if isinstance(said, str) else ""


def document_in(text: str) -> dict[str, Any]:
    """Return the document of a form. Raises BadYaml and BadProfile."""
    document = read(text.encode("utf-8", "replace"))
    if not isinstance(document, dict):
        raise BadProfile("profile", "must be an object")
    document = profiles.plain(document)
    profiles.check(document)
    return document


def tried(document: dict[str, Any], pasted: str) -> dict[str, Any]:
    """Return what the pasted lines say by a document, the first so many of them."""
    matcher = profiles.check(document)
    lines = pasted[:PASTED_CHARACTERS_MAX].replace("\r\n", "\n").encode("utf-8", "replace").split(b"\n")
    found = trial(matcher, lines[:LINES_MAX])
    told = status(found.measured, ended=True)
    told.pop("conditions")
    return {
        "problem": "",
        "tried": found,
        "said": [line_as_json(text, matches, matcher) for text, matches in found.lines[:LINES_SHOWN]],
        "more": max(len(found.lines) - LINES_SHOWN, 0),
        "status": told,
        "falls": waterfall(picture(found.measured)),
    }
