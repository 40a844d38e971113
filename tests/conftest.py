"""One Postgres for the whole test run, a database for each worker of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

from goodput_site.embedded import BROKER_DATABASE, Server, use
from goodput_site.places import places, places_of

OURS = "GOODPUT_TEST_STATE"
HOUR_SECONDS, NEAR_SECONDS = 3600, 60
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

# What these files set up takes minutes or a server: one worker does it, once, and before all else.
TOGETHER = {
    f"tests/{name}.py" for name in ("slurm/test_real", "site/test_demo", "site/test_supervisor", "faults/test_restarts")
}

hypothesis_settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis_settings.register_profile("dev", deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if OURS not in os.environ:
    os.environ[OURS] = tempfile.mkdtemp(prefix="goodput-tests-")
os.environ["GOODPUT_STATE"] = os.environ[OURS]


def pytest_configure(config: pytest.Config) -> None:
    """Point the settings, which pytest-django has read before this file, at the test run's own Postgres."""
    from django.conf import settings

    settings.PLACES = places()
    settings.THROTTLES = {}  # tests ask more often than anybody may; those of throttling have rates of their own
    if settings.EMBEDDED:
        settings.DATABASES["default"]["HOST"] = str(settings.PLACES.sockets)
        settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"] = Server(settings.PLACES).conninfo(BROKER_DATABASE)
    find_static_files_once()


def find_static_files_once() -> None:
    """Let every test client have what the first has found: looking for all files takes longer than most requests."""
    from whitenoise.middleware import WhiteNoiseMiddleware

    find, found = WhiteNoiseMiddleware.add_files_from_finders, dict[str, Any]()

    def find_once(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            find(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    WhiteNoiseMiddleware.add_files_from_finders = find_once


def pytest_sessionstart(session: pytest.Session) -> None:
    """Take away what test runs that were killed have left: servers that nobody uses any more, and their folders."""
    if hasattr(session.config, "workerinput"):
        return
    for folder in Path(tempfile.gettempdir()).glob("goodput-tests-*"):
        lock = folder / "postgres.users.lock"
        with suppress(PermissionError):  # another user's
            if lock.exists() and time.time() - lock.stat().st_mtime > 10 and nobody_holds(lock):
                Server(places_of(folder, os.geteuid())).shut_down()
                shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests of a file that is to stay together to one worker, each other test to whoever is free.

    xdist's own groups do nothing: the names of tests, to which it adds them, cannot be changed in pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return file if file in TOGETHER else nodeid

    return Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Begin no test in the last minute of an hour: from its start to its end "now" is of one hour, day, week, year."""
    left = HOUR_SECONDS - time.time() % HOUR_SECONDS
    if left < NEAR_SECONDS:
        time.sleep(left + 1)


def nobody_holds(lock: Path) -> bool:
    with lock.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def pytest_unconfigure(config: pytest.Config) -> None:
    """The process that xdist's workers come from takes the folder away, last of all."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[OURS], ignore_errors=True)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """Before the first test database is made: start Postgres, or join the one another worker started."""
    if os.environ.get("DATABASE_URL"):
        yield
        return
    with use(places(), FAST):
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The published traces and logs that lie beside the checkout."""
    return Path(__file__).parents[1] / "../shared/data"
