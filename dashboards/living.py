"""Pages that bring themselves up to date: whole to a browser that opens one, their living part alone to htmx."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from dashboards.filters import Shown
from dashboards.menu import menu_of
from dashboards.places import ClusterPlace, Place


def answer(
    request: HttpRequest,
    place: Place | ClusterPlace,
    label: str,
    template: str,
    context: Mapping[str, Any],
    wanted: Shown | None = None,
) -> HttpResponse:
    """Return a page; `label` is what the menu calls it, `wanted` what its query string says, if it takes one."""
    around = {
        "place": place,
        "menu": menu_of(request.user, place, label),
        "layout": "bare.html" if request.headers.get("HX-Request") else "base.html",
        **({} if wanted is None else {"shown": wanted}),
    }
    status = 400 if wanted is not None and wanted.problems else 200
    response = render(request, f"dashboards/{template}", around | dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
