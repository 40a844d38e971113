"""A copy of the whole database server: taken while it is in use, or of its folder when all is stopped."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command

from goodput_site.embedded import Server, account_of, binary, prepare
from goodput_site.places import places
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.models import Cluster
from tests.faults import scene
from tests.faults.sessions import connected_to
from tests.postgres_world import cells
from tests.retention.story import told_cluster
from tests.retention.younger import younger
from tests.site.conftest import open_folder
from tests.tables import at

# as a server of one's own has it; the embedded one writes no log that a base back-up could be made of
SETTINGS = {"wal_level": "replica", "max_wal_senders": "4", "fsync": "off"}
LATER = [
    ("49:00", scene.batch("49:00", workers=[("r1/w1", "48:40", {"phase": "failed"})])),
    ("50:00", scene.batch("50:00", workers=[("r1/w1", "49:20", {"phase": "running", "attempt": 9})])),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    yield from open_folder()


@contextmanager
def running(server: Server) -> Iterator[None]:
    """The server runs, and this process's connection is one to its own database."""
    server.start()
    try:
        with connected_to(server):
            yield
    finally:
        server.shut_down()
        server.let_go()


def server_in(state: Path) -> Server:
    return Server(places({"GOODPUT_STATE": str(state)}), SETTINGS)


def base_backup(of: Server, to: Server) -> None:
    """Run pg_basebackup as who runs Postgres."""
    account = prepare(to.places)
    program = binary(of.places, account, "pg_basebackup")
    where = ["-h", str(of.places.sockets), "-U", "postgres", "--pgdata", str(to.places.data)]
    command = [program, *where, "--wal-method=stream", "--checkpoint=fast"]
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd="/", **account.popen())  # type: ignore[call-overload]


def is_well(cluster: Cluster, until: str) -> bool:
    return list(check(cluster.pk, at(until), now=at(until)))[-1].differences == []


def goes_on(cluster: Cluster, told: list[tuple[str, scene.type_batch]]) -> None:
    scene.begin(cluster, *told)
    categorize(cluster, now=at("50:30"))


def test_a_server_from_a_base_backup_takes_up_what_it_had_not_heard(folder: Path, django_db_blocker: object) -> None:
    """As after a failover to a replica that lacks the last commits: agents send what was not answered, and more."""
    own, other = server_in(folder / "own"), server_in(folder / "other")
    with django_db_blocker.unblock(), running(own):  # type: ignore[attr-defined]
        call_command("migrate", verbosity=0)
        cluster = told_cluster()
        before = younger(cluster, 0)
        base_backup(own, other)
        goes_on(cluster, LATER)
        wanted = cells(cluster, at("50:30"))
    with django_db_blocker.unblock(), running(other):  # type: ignore[attr-defined]
        assert younger(cluster, 0) == before
        assert is_well(cluster, "48:30")
        goes_on(cluster, LATER)
        assert cells(cluster, at("50:30")) == wanted
        assert is_well(cluster, "50:30")


def test_a_copy_of_the_stopped_folder_goes_on(folder: Path, django_db_blocker: object) -> None:
    own, other = server_in(folder / "own"), server_in(folder / "other")
    with django_db_blocker.unblock(), running(own):  # type: ignore[attr-defined]
        call_command("migrate", verbosity=0)
        cluster = told_cluster()
        before = younger(cluster, 0)
    subprocess.run(["cp", "-a", folder / "own", folder / "other"], check=True)
    assert account_of(other.places, os.geteuid() == 0).uid == other.places.data.stat().st_uid
    with django_db_blocker.unblock(), running(other):  # type: ignore[attr-defined]
        assert younger(cluster, 0) == before
        goes_on(cluster, LATER)
        assert is_well(cluster, "50:30")
