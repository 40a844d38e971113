"""What a person sees of themselves, and the door that an invitation opens."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboards.forms import JoinForm, ViewerForm
from dashboards.places import Place, signed_in
from ledger import members, viewers
from ledger.members import Refusal


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def you(request: HttpRequest) -> HttpResponse:
    """Serve a person's own settings: the time zone of pages, the password."""
    user = request.user
    assert isinstance(user, User), "who is signed in is a user"
    action = request.POST.get("action", "") if request.method == "POST" else ""
    zone = ViewerForm(request.POST if action == "zone" else None, initial={"zone": viewers.zone_of(user)})
    password = PasswordChangeForm(user, request.POST if action == "password" else None)
    if action == "zone" and zone.is_valid():
        viewers.set_zone(user, zone.cleaned_data["zone"])
        messages.success(request, f"Pages show {zone.cleaned_data['zone'] or 'UTC'} from now on.")
        return redirect("you")
    if action == "password" and password.is_valid():
        update_session_auth_hash(request, password.save())
        messages.success(request, "The password is changed, and every other session has ended.")
        return redirect("you")
    context = {"zone_form": zone, "password_form": password}
    return render(request, "dashboards/settings/you.html", context, status=400 if action else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Let somebody in: with the account they are signed in with, or with a new one. Raises Http404 when it is over."""
    found = members.invitation(token)
    if found is None:
        raise Http404("This invitation was used, withdrawn or has expired; ask for a new one.")
    form: Any = None if request.user.is_authenticated else JoinForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            return entered(request, token, form)
        except Refusal as refusal:
            form.add_error("username", str(refusal))
    context = {"invitation": found, "form": form, "here": request.path}
    return render(request, "dashboards/settings/invitation.html", context, status=400 if form and form.errors else 200)


def entered(request: HttpRequest, token: str, form: Any) -> HttpResponse:
    """Use an invitation, for who is signed in (form None) or for a new account, which is made with it or not at all."""
    if form is None:
        assert isinstance(request.user, User), "who is signed in is a user"
        used = members.accept(token, request.user)
    elif (joined := members.accept_anew(token, form.save)) is not None:
        used, person = joined
        login(request, person)
    else:
        used = None
    if used is None:
        raise Http404("This invitation was used, withdrawn or has expired; ask for a new one.")
    if used.workspace is None:
        return redirect("home")
    return redirect(Place(used.organization.name, used.workspace.name).address)
