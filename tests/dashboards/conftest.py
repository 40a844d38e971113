"""The world, and browsers without JavaScript that are signed in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from tests.dashboards.world import World, make_world

GOODPUT = "/w/acme/vision/goodput"
Get = Callable[..., Any]


@pytest.fixture(autouse=True)
def quick(settings: Settings) -> None:
    """Hash passwords quickly, and know nothing of the failures of the test before."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def get(world: World) -> Get:
    """Get an address as somebody; returns the response."""

    clients: dict[str, Client] = {}

    def got(path: str = GOODPUT, who: str = "ana", **query: Any) -> Any:
        if who not in clients:
            clients[who] = Client()
            if who:
                clients[who].force_login(User.objects.get(username=who))
        return clients[who].get(path, query or None)

    return got
