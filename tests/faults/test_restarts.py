"""Postgres is stopped, quickly or at once, or killed while observations come in and minutes are counted (T10)."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from random import Random

import pytest
from django.core.management import call_command
from django.db import DatabaseError, InterfaceError, connection

from goodput_site.embedded import Server
from goodput_site.places import places
from goodput_site.processes import wait_until
from ledger import walltime
from ledger.categorizer import categorize
from ledger.models import Cluster
from tests.faults import worlds
from tests.faults.conftest import Trusting
from tests.faults.scripted import ScriptedClock, scripted_clock
from tests.faults.sessions import connected_to, together
from tests.faults.test_concurrency import ingest_all
from tests.postgres_world import make_cluster
from tests.site.conftest import open_folder
from tests.worlds import MONDAY

# The machine itself goes on, so what was written need not be flushed; but a commit that was answered must be written.
SETTINGS = {"fsync": "off", "full_page_writes": "off"}
AWAY_MAX = 120
SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill -9": signal.SIGKILL}


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[Server]:
    for folder in open_folder():
        own = Server(places({"GOODPUT_STATE": str(folder / "state")}), SETTINGS)
        own.start()
        with django_db_blocker.unblock(), connected_to(own):  # type: ignore[attr-defined]
            try:
                call_command("migrate", verbosity=0)
                yield own
            finally:
                own.shut_down()
                own.let_go()


def restart(server: Server, sign: signal.Signals) -> None:
    """Stop the postmaster in that way, and start another."""
    pid = server.postmaster()
    assert pid is not None
    os.kill(pid, sign)
    assert wait_until(lambda: server.gone(pid), 60)
    server.let_go()
    server.start()


def stubborn(work: Callable[[], object]) -> None:
    """Do the work again from its start until the database has taken it, or has been away for too long."""
    last = time.monotonic() + AWAY_MAX
    while True:
        try:
            work()
        except (DatabaseError, InterfaceError):
            if time.monotonic() > last:
                raise
            with suppress(DatabaseError, InterfaceError):
                connection.close()
            time.sleep(0.05)
        else:
            return


@pytest.mark.soak
@pytest.mark.parametrize("way", SIGNALS)
def test_t10_the_database_restarts_while_all_goes_on(server: Server, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(walltime, "_steady", Trusting())
    tolds = [worlds.told_world(5_000 + index, f"{way}{index}") for index in range(3)]
    with scripted_clock(MONDAY) as clock:
        cluster = make_cluster(worlds.SETTINGS, MONDAY)
        going_on = True

        def send(way_of_source: list[worlds.Delivery]) -> None:
            for delivery in way_of_source:
                stubborn(partial(ingest_all, cluster, clock, [delivery]))

        def count() -> None:
            try:
                while going_on:
                    stubborn(partial(categorize, cluster, batch_size=3))
                    time.sleep(0.05)
            finally:
                connection.close()

        jobs = [partial(send, source) for told in tolds for source in worlds.by_source(told)]
        with ThreadPoolExecutor(2) as beside:
            counts = beside.submit(count)
            killed = beside.submit(restarts, server, SIGNALS[way], Random(way))
            try:
                together(jobs)
                killed.result()
            finally:
                going_on = False
            counts.result()
        finish(cluster, clock, tolds)


def restarts(server: Server, sign: signal.Signals, rng: Random) -> None:
    for _ in range(3):
        time.sleep(rng.uniform(0.1, 0.8))
        restart(server, sign)


def finish(cluster: Cluster, clock: ScriptedClock, tolds: list[worlds.Told]) -> None:
    connection.close()
    until = worlds.end(tolds, clock.read())
    clock.set(until)
    worlds.prove(cluster, tolds, until, categorize(cluster).counted_until)
