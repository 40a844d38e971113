"""One Postgres for the whole test run, a database for each worker of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

OURS = "GOODPUT_TEST_STATE"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

hypothesis_settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis_settings.register_profile("dev", deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if OURS not in os.environ:
    os.environ[OURS] = tempfile.mkdtemp(prefix="goodput-tests-")
os.environ["GOODPUT_STATE"] = os.environ[OURS]


def pytest_configure(config: pytest.Config) -> None:
    """Point the settings, which pytest-django has read before this file, at the test run's own Postgres."""
    from django.conf import settings

    from goodput_site.embedded import BROKER_DATABASE, Server
    from goodput_site.places import places

    settings.PLACES = places()
    if settings.EMBEDDED:
        settings.DATABASES["default"]["HOST"] = str(settings.PLACES.sockets)
        settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"] = Server(settings.PLACES).conninfo(BROKER_DATABASE)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The process that xdist's workers come from takes the folder away, last of all."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[OURS], ignore_errors=True)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """Before the first test database is made: start Postgres, or join the one another worker started."""
    from goodput_site.embedded import use
    from goodput_site.places import places

    if os.environ.get("DATABASE_URL"):
        yield
        return
    with use(places(), FAST):
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The published traces and logs that lie beside the checkout."""
    return Path(__file__).parents[1] / "../shared/data"
