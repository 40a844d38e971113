"""Back-up and restore: a dump of a database in use, restored beside it, is the same ledger and goes on."""

import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from goodput_site.embedded import PROGRAMS
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.models import Cluster
from tests.faults import scene
from tests.retention.story import told_cluster
from tests.retention.younger import younger
from tests.tables import at


def program(name: str, *arguments: str) -> None:
    of = connection.settings_dict
    where = ["-h", str(of["HOST"]), "-p", str(of["PORT"] or 5432), "-U", str(of["USER"])]
    subprocess.run(
        [Path(sysconfig.get_path("purelib")) / PROGRAMS / name, *where, *arguments],
        check=True,
        capture_output=True,
        timeout=120,
    )


@contextmanager
def within(database: str) -> Iterator[None]:
    """Let this process's connection be one to another database of the same server."""
    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = database
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own


@pytest.mark.django_db(transaction=True)
def test_a_dump_restored_elsewhere_is_the_same_ledger_and_goes_on(tmp_path: Path) -> None:
    cluster = told_cluster()
    before, own = younger(cluster, 0), str(connection.settings_dict["NAME"])
    dump, other = str(tmp_path / "goodput.dump"), f"{own}_restored"
    program("pg_dump", "--format=custom", "--file", dump, own)
    program("dropdb", "--if-exists", other)
    program("createdb", other)
    try:
        program("pg_restore", "--no-owner", "--exit-on-error", "--dbname", other, dump)
        with within(other):
            assert younger(cluster, 0) == before
            assert list(check(cluster.pk, at("48:30"), now=at("48:30")))[-1].differences == []
            found = Cluster.objects.get(pk=cluster.pk)
            scene.deliver(found, "49:00", scene.batch("49:00", workers=[("r1/w0", "48:40", {"phase": "ended"})]))
            until = categorize(found, now=at("50:30")).counted_until
            assert list(check(found.pk, until, now=at("50:30")))[-1].differences == []
        assert younger(cluster, 0) == before
    finally:
        program("dropdb", other)  # unforced, it cancels an autovacuum that is at it
