"""The front door: the first workspace of whoever comes, or how to get one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboards.connect import membership
from dashboards.places import places_of, signed_in


@require_safe
@never_cache
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """Go to the user's first workspace; without one say how to get one."""
    places = places_of(request.user)
    if places:
        return redirect(places[0].address)
    command = membership(request.user.get_username())
    return render(request, "dashboards/home.html", {"command": command})
