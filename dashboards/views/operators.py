"""The way into Django's admin: by the one login, where failures are counted."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def operators_login(request: HttpRequest) -> HttpResponse:
    """Lead who has to sign in to the login, an operator to where they want to go, and everybody else home."""
    wanted = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        wanted = reverse("admin:index")
    if not request.user.is_authenticated:
        return redirect(f"{reverse('login')}?{urlencode({'next': wanted}, safe='/')}")
    return redirect(wanted if getattr(request.user, "is_staff", False) else "home")
