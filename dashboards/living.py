"""Pages that bring themselves up to date: whole to a browser that opens one, their living part alone to htmx."""

import gc
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from dashboards.filters import Shown
from dashboards.menu import menu_of
from dashboards.places import ClusterPlace, Place


class Page(HttpResponse):
    """A page, after which what was made for it is let go.

    A template's context refers to itself, so all that a page showed stays until somebody looks for such rings. Left
    alone that happens each hundred pages, and one of them waits for it; after each page there is hardly anything.
    """

    def close(self) -> None:
        super().close()
        gc.collect(0)


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
    response = Page(render_to_string(f"dashboards/{template}", around | dict(context), request), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
