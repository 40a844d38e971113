"""What was made for a page is let go with it."""

import gc
import weakref

import pytest
from django.http import HttpResponse

from dashboards.living import Page
from tests.dashboards.conftest import Get
from tests.dashboards.world import World


class Ring:
    """It refers to itself, as a template's context does."""

    def __init__(self) -> None:
        self.me = self


def test_rings_do_not_outlive_their_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpResponse, "close", lambda _: None)  # which would close the connection of the tests
    gc.disable()
    try:
        ring = weakref.ref(Ring())
        assert ring() is not None
        Page("").close()
        assert ring() is None
    finally:
        gc.enable()


def test_pages_are_such(world: World, get: Get) -> None:
    for path in ("goodput", "goodput/weekly", "runs", "runs/uid-llm", "machines", "machines/gpu-1", "pools/h100"):
        assert isinstance(get(f"/w/acme/vision/{path}"), Page), path
