"""The whole installation as real processes: what dies comes back, and nothing is left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from goodput_site.embedded import BROKER_DATABASE, Server
from goodput_site.places import places
from ledger.management import demo
from tests.site.running import Running, all_gone, descendants, eventually, free_port, manage


@pytest.fixture(scope="module")
def running(folders: Path) -> Iterator[Running]:
    """One installation for the tests that leave it running."""
    with Running(folders / "state", free_port()) as one:
        eventually(one.is_well)
        yield one


def conninfo(one: Running, database: str = "goodput") -> str:
    return Server(places({"GOODPUT_STATE": str(one.state)})).conninfo(database)


def test_it_says_where_it_serves(running: Running) -> None:
    eventually(lambda: f"serves at http://127.0.0.1:{running.port}/" in running.output())
    file = running.state / "demo.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert demo.read(file) == {"url": f"http://127.0.0.1:{running.port}/"}


def test_the_worker_takes_tasks_from_the_embedded_broker(running: Running) -> None:
    log = running.state / "logs" / "worker.log"
    eventually(lambda: "ledger.tasks.categorize" in log.read_text() and "succeeded" in log.read_text())
    with psycopg.connect(conninfo(running, BROKER_DATABASE), autocommit=True) as link:
        eventually(lambda: link.execute("SELECT count(*) FROM pgmq.q_celery").fetchone() == (0,))
        assert link.execute("SELECT last_value >= 1 FROM pgmq.q_celery_msg_id_seq").fetchone() == (True,)


@pytest.mark.parametrize("name", ["web", "worker", "beat", "postgres"])
def test_a_killed_process_comes_back(running: Running, name: str) -> None:
    others = {other: pid for other, pid in running.pids().items() if other != name}
    below = descendants(running.pid(name))
    running.kill(name)
    eventually(running.is_well)
    eventually(lambda: all_gone(below))
    assert f"{name:<9} was killed by SIGKILL; again in" in running.output()
    survivors = {other: running.pid(other) for other in others if other in ("beat", "web")}
    assert survivors == {other: others[other] for other in survivors}


def test_a_command_beside_it_uses_its_server(running: Running) -> None:
    before = running.pid("postgres")
    done = manage(running.state, "migrate", "--check")
    assert done.returncode == 0, done.stderr
    eventually(running.is_well)
    assert running.pid("postgres") == before
    assert Server(places({"GOODPUT_STATE": str(running.state)})).postmaster() == before


def test_two_copies_run_side_by_side_but_not_on_one_port_or_state(running: Running, folder: Path) -> None:
    with Running(folder / "second", free_port()) as second:
        eventually(second.is_well)
        assert running.is_well()
        assert set(running.pids().values()).isdisjoint(second.pids().values())
    same_port = manage(folder / "third", "up", PORT=str(running.port))
    assert same_port.returncode == 1
    assert same_port.stderr.count("\n") == 1
    assert f"Port {running.port} is taken" in same_port.stderr
    same_state = manage(running.state, "up", PORT=str(free_port()))
    assert same_state.returncode == 1
    assert same_state.stderr.count("\n") == 1
    assert f"already runs from {running.state} (process {running.process.pid})" in same_state.stderr
    assert running.is_well()


def test_term_and_interrupt_stop_everything_and_the_next_run_goes_on(folder: Path) -> None:
    state, port = folder / "state", free_port()
    for sign in (signal.SIGTERM, signal.SIGINT):
        with Running(state, port) as one:
            eventually(one.is_well)
            processes = descendants(one.process.pid)
            assert len(processes) >= 5
            os.kill(one.process.pid, sign)
            assert one.process.wait(90) == 0
            assert all_gone(processes)
    log = (state / "logs" / "postgres.log").read_text()
    assert log.count("database system is shut down") == 2
    assert "not properly shut down" not in log


def test_after_kill_9_of_the_supervisor_nothing_stands_in_the_way_of_the_next_run(folder: Path) -> None:
    state, port = folder / "state", free_port()
    with Running(state, port) as first:
        eventually(first.is_well)
        processes = descendants(first.process.pid)
        with psycopg.connect(conninfo(first), autocommit=True) as link:
            link.execute("CREATE TABLE kept AS SELECT 42 AS n")
        first.process.kill()
        first.process.wait()
    with Running(state, port) as again:
        eventually(again.is_well)
        eventually(lambda: all_gone(processes))
        with psycopg.connect(conninfo(again)) as link:
            assert link.execute("SELECT n FROM kept").fetchone() == (42,)


def test_with_urls_set_nothing_embedded_starts(running: Running, folder: Path) -> None:
    state = folder / "external"
    sockets = places({"GOODPUT_STATE": str(running.state)}).sockets
    urls = {
        "DATABASE_URL": f"postgres://goodput@/goodput?host={sockets}",
        "CELERY_BROKER_URL": "memory://",
        "SECRET_KEY": "x" * 60,
        "HTTPS": "0",
        "STATIC_ROOT": str(folder / "static"),
    }
    with Running(state, free_port(), urls) as one:
        eventually(one.is_well)
        assert one.pid("postgres") == 0
        assert not (state / "postgres").exists()
        names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in descendants(one.process.pid)]
        assert "postgres" not in names
    done = manage(state, "migrate", "--check", **urls)
    assert done.returncode == 0, done.stderr
    assert not (state / "postgres").exists()


def test_half_a_configuration_is_refused_in_one_sentence(folder: Path) -> None:
    url = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    done = manage(folder, "up", **url, SECRET_KEY="x" * 60)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "CELERY_BROKER_URL is not" in done.stderr
    done = manage(folder, "up", PORT="eighty")
    assert "PORT must be a number from 1 to 65535, not 'eighty'." in done.stderr
