"""`manage.py up`, which is `make run`: everything on one machine, from nothing."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from goodput_site.embedded import EmbeddedError, Server, make_state
from goodput_site.places import CHECKOUT
from goodput_site.processes import die_with_parent, wait_until
from goodput_site.supervisor import Child, Database, Failed, Stopped, Supervisor, say
from ledger.management import demo

MANAGE = [sys.executable, str(CHECKOUT / "manage.py")]
ANNOUNCE_SECONDS_MAX = 60
PORT_SECONDS_MAX = 5.0


class Command(BaseCommand):
    """Runs until Ctrl-C or TERM."""

    help = "Serves everything from this machine: Postgres unless one is configured, web, worker, beat, the demo."
    requires_system_checks: list[str] = []

    def handle(self, *_: Any, **__: Any) -> None:
        if "MAKELEVEL" in os.environ:
            die_with_parent(signal.SIGTERM)
        port = port_of(os.environ.get("PORT") or "8000")
        bind = os.environ.get("BIND") or "127.0.0.1"
        with_demo = (os.environ.get("DEMO") or ("1" if settings.EMBEDDED else "0")) != "0"
        check_configuration()
        with only_one(settings.PLACES.state) as last_was_killed:
            check_port(bind, port, PORT_SECONDS_MAX if last_was_killed else 0)
            try:
                Installation(bind, port, with_demo).run()
            except (EmbeddedError, Failed) as error:
                raise CommandError(str(error)) from error


@dataclass
class Installation:
    """What is to run, and where."""

    bind: str
    port: int
    with_demo: bool
    announced: bool = False
    started: float = 0.0

    @property
    def url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.bind, self.bind)  # noqa: S104
        return f"http://{host}:{self.port}/"

    @property
    def env(self) -> dict[str, str]:
        """What every child gets beside our own environment."""
        state = str(settings.PLACES.state)
        return {
            "GOODPUT_STATE": state,
            "GOODPUT_SUPERVISED": "1",
            "PYTHONUNBUFFERED": "1",
            "GOODPUT_URL": self.url,
        }

    def run(self) -> None:
        """Start everything in order and stay. Raises EmbeddedError, Failed."""
        places = settings.PLACES
        make_state(places)
        if settings.EMBEDDED and places.moved:
            say("goodput", f"the account of Postgres cannot enter {places.state}; its data is in {places.postgres}")
        database = Database(Server(places)) if settings.EMBEDDED else None
        with Supervisor(places.logs, database) as supervisor:
            try:
                if database is not None:
                    database.start()
                supervisor.run_once("migrate", [*MANAGE, "migrate", "--no-input"], self.env)
                if not settings.EMBEDDED:
                    supervisor.run_once("static", [*MANAGE, "collectstatic", "--no-input"], self.env)
                self.seed(supervisor)
                supervisor.children = self.children()
                self.started = time.monotonic()
                supervisor.run(self.announce)
            except Stopped:
                pass

    def seed(self, supervisor: Supervisor) -> None:
        """Make the demo unless it is there; write where it is served."""
        path = settings.PLACES.demo
        if self.with_demo and not demo.is_complete(demo.read(path)):
            say("demo", "making the demo: a public trace, eight weeks back-filled")
            supervisor.run_once("demo_seed", [*MANAGE, "demo_seed"], self.env, show=True)
        demo.write(path, {"url": self.url})

    def children(self) -> list[Child]:
        """The processes that always run."""
        logs = settings.PLACES.logs
        celery = [sys.executable, "-m", "celery", "-A", "goodput_site"]
        web = [sys.executable, "-m", "granian", "--interface", "wsgi", "goodput_site.wsgi:application"]
        web += ["--host", self.bind, "--port", str(self.port), "--respawn-failed-workers", "--no-ws"]
        web += ["--workers", os.environ.get("WEB_WORKERS") or "2", "--blocking-threads", "4"]
        worker = [
            *celery,
            "worker",
            "--loglevel",
            "INFO",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
        worker += ["--concurrency", os.environ.get("WORKER_CONCURRENCY") or "2"]
        beat = [
            *celery,
            "beat",
            "--loglevel",
            "INFO",
            "--pidfile",
            "",
            "--scheduler",
            "celery.beat:Scheduler",
        ]
        commands = {"web": web, "worker": worker, "beat": beat}
        if self.with_demo:
            commands["demo"] = [*MANAGE, "demo_feed"]
        return [
            Child(name, command, logs / f"{name}.log", {**self.env, "GOODPUT_PROCESS": name})
            for name, command in commands.items()
        ]

    def announce(self) -> None:
        """Once it serves and counts, say where; when that takes long, say why, once."""
        if self.announced:
            return
        trouble = trouble_at(self.url + "healthz")
        if trouble and time.monotonic() < self.started + ANNOUNCE_SECONDS_MAX:
            return
        self.announced = True
        values = demo.read(settings.PLACES.demo)
        say("goodput", f"serves at {self.url}" + (f" but is not well yet: {trouble}" if trouble else ""))
        if demo.is_complete(values):
            say("goodput", f"demo login: {values['user']} with password {values['password']}")
            say("goodput", f"API token: {values['token']}")
        else:
            say(
                "goodput",
                "no demo here; `manage.py create_user` and `create_token` make the first login and token",
            )
        say("goodput", f"Ctrl-C stops everything; logs are in {settings.PLACES.logs}")


def trouble_at(url: str) -> str:
    """What keeps the address from answering 200; "" when nothing does."""
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310
            return ""
    except urllib.error.HTTPError as error:
        return error.read(500).decode(errors="replace")
    except OSError as error:
        return str(error)


def port_of(text: str) -> int:
    """The port that PORT names. Raises CommandError."""
    if text.isdecimal() and 0 < int(text) < 65536:
        return int(text)
    raise CommandError(f"PORT must be a number from 1 to 65535, not {text!r}.")


def check_configuration() -> None:
    """Refuse half a configuration. Raises CommandError."""
    if not settings.EMBEDDED and not settings.CELERY_BROKER_URL:
        raise CommandError("DATABASE_URL is set but CELERY_BROKER_URL is not; `manage.py doctor` says what is missing.")


@contextmanager
def only_one(state: Path) -> Iterator[bool]:
    """Be the only supervisor of this state folder; yields whether the last one was killed. Raises CommandError."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(state / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        last = os.read(handle, 20).decode()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(
                f"Goodput already runs from {state} (process {last}); stop it, "
                "or set GOODPUT_STATE and PORT for a second copy."
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield bool(last)
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def check_port(bind: str, port: int, patience: float) -> None:
    """Refuse a taken port after `patience` seconds. Raises CommandError."""
    if not wait_until(lambda: is_free(bind, port), patience, 0.1):
        raise CommandError(f"Port {port} is taken; choose another one, for example: PORT={port + 1} make run")


def is_free(bind: str, port: int) -> bool:
    """Whether we could listen there."""
    with socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
        except OSError:
            return False
    return True
