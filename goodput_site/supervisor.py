"""One process that starts the others, restarts what dies, and takes everything down with it.

Children sit in sessions of their own, so that Ctrl-C reaches only the supervisor, and are told by the kernel
when it dies, so that a kill -9 of it leaves none behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from goodput_site.embedded import EmbeddedError, Server, tail
from goodput_site.log_files import rotate
from goodput_site.processes import dying_with

FIRST_DELAY_SECONDS = 0.5
DELAY_SECONDS_MAX = 30.0
STEADY_SECONDS = 60.0
POLL_SECONDS = 0.1
STOP_SECONDS_MAX = 10.0
DATABASE_CHECK_SECONDS = 10.0
DATABASE_MISSES_MAX = 3


class Stopped(Exception):
    """Somebody asked for the end."""


class Failed(Exception):
    """Something that must succeed before serving did not; the message says what, in one sentence."""


def say(name: str, text: str) -> None:
    """One line on standard output."""
    now = datetime.now(UTC).strftime("%H:%M:%S")
    print(f"{now} {name:<9} {text}", flush=True)  # noqa: T201


@dataclass
class Backoff:
    """How long to wait before the next start: twice as long each time, until a run was steady."""

    delay: float = FIRST_DELAY_SECONDS
    due: float = 0.0

    def died(self, now: float, started: float) -> float:
        """Note a death; the seconds until the next start."""
        if now - started >= STEADY_SECONDS:
            self.delay = FIRST_DELAY_SECONDS
        wait, self.delay = self.delay, min(self.delay * 2, DELAY_SECONDS_MAX)
        self.due = now + wait
        return wait


@dataclass
class Child:
    """One process that must always run."""

    name: str
    command: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    running: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    backoff: Backoff = field(default_factory=Backoff)

    def start(self) -> None:
        self.started = time.monotonic()
        self.running = spawn(self.command, self.log, self.env)
        say(self.name, f"started (process {self.running.pid})")

    def tend(self) -> None:
        """Start it when it is due; say so when it died."""
        now = time.monotonic()
        if self.running is None:
            if now >= self.backoff.due:
                self.start()
            return
        code = self.running.poll()
        if code is not None:
            end_group(self.running.pid, signal.SIGKILL)
            self.running = None
            wait = self.backoff.died(now, self.started)
            say(self.name, f"{how_it_ended(code)}; again in {wait:g} s; see {self.log}")

    def ask_to_stop(self) -> None:
        if self.running is not None:
            with suppress(ProcessLookupError):
                self.running.send_signal(signal.SIGTERM)

    def end(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic seconds), then end its whole group by force."""
        if self.running is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.running.wait(max(0.1, deadline - time.monotonic()))
        end_group(self.running.pid, signal.SIGKILL)
        self.running.wait()
        self.running = None


@dataclass
class Database:
    """The embedded Postgres as the supervisor keeps it alive."""

    server: Server
    backoff: Backoff = field(default_factory=Backoff)
    started: float = 0.0
    checked: float = 0.0
    misses: int = 0
    down: bool = True

    def start(self) -> None:
        """Raises EmbeddedError."""
        self.server.start(die_with_us=True)
        self.started = self.checked = time.monotonic()
        self.misses, self.down = 0, False
        child = self.server.child
        say("postgres", f"started (process {child.pid})" if child else "was running; goes on")

    def tend(self) -> None:
        """Start it again when it is dead, or alive but without an answer three times in a row."""
        now = time.monotonic()
        if self.down:
            if now >= self.backoff.due:
                self.try_again()
            return
        code = self.server.child.poll() if self.server.child else None
        if code is not None or (self.server.child is None and self.server.postmaster() is None):
            self.lost(now, "gone" if code is None else how_it_ended(code))
        elif now >= self.checked + DATABASE_CHECK_SECONDS:
            self.checked = now
            self.misses = 0 if self.server.answers() else self.misses + 1
            if self.misses >= DATABASE_MISSES_MAX:
                self.server.shut_down()
                self.lost(now, "does not answer")

    def lost(self, now: float, how: str) -> None:
        self.down = True
        wait = self.backoff.died(now, self.started)
        say("postgres", f"{how}; again in {wait:g} s; see {self.server.places.logs / 'postgres.log'}")

    def try_again(self) -> None:
        try:
            self.start()
        except EmbeddedError as error:
            self.lost(time.monotonic(), str(error).replace("\n", " | "))


class Supervisor:
    """Runs a list of children, and the embedded Postgres if there is one, until a signal ends it."""

    def __init__(self, logs: Path, database: Database | None) -> None:
        self.logs = logs
        self.database = database
        self.children: list[Child] = []
        self.stopping = False

    def __enter__(self) -> Supervisor:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.stop)
        return self

    def __exit__(self, *_: object) -> None:
        self.take_down()

    def stop(self, *_: object) -> None:
        """Ask the loop to end; what it does now it finishes first."""
        self.stopping = True

    def run_once(self, name: str, command: Sequence[str], env: Mapping[str, str], show: bool = False) -> None:
        """Run a step to its end, Postgres kept alive meanwhile. Raises Failed, Stopped."""
        log = self.logs / f"{name}.log"
        step = spawn(command, None if show else log, env)
        try:
            while step.poll() is None:
                self.beat()
        finally:
            end_group(step.pid, signal.SIGTERM if step.poll() is None else signal.SIGKILL)
            step.wait()
        if step.returncode != 0:
            end = "" if show else f"; the end of {log} says:\n{tail(log)}"
            raise Failed(f"`{name}` {how_it_ended(step.returncode)}{end}")

    def run(self, each_second: Callable[[], None]) -> None:
        """Keep everything running; raises Stopped in the end."""
        next_call = 0.0
        while True:
            for child in self.children:
                child.tend()
            if time.monotonic() >= next_call:
                next_call = time.monotonic() + 1
                rotate(self.logs)
                each_second()
            self.beat()

    def beat(self) -> None:
        """One turn: the end if asked for, Postgres, a pause."""
        if self.stopping:
            raise Stopped
        if self.database is not None:
            self.database.tend()
        time.sleep(POLL_SECONDS)

    def take_down(self) -> None:
        """Stop all: first those that use Postgres, together, then Postgres."""
        for child in self.children:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS_MAX
        for child in self.children:
            child.end(deadline)
        if self.database is not None:
            self.database.server.shut_down()
            self.database.server.stop()
        say("goodput", "stopped")


def spawn(command: Sequence[str], log: Path | None, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a child in its own session that dies with us; its output goes to `log`, without one to ours."""
    before = dying_with(signal.SIGKILL, os.getpid())
    out = None if log is None else log.open("ab")
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **env},
            start_new_session=True,
            preexec_fn=before,
        )
    finally:
        if out is not None:
            out.close()


def end_group(pid: int, sign: int) -> None:
    """Signal a whole process group, if any of it is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, sign)


def how_it_ended(code: int) -> str:
    """In words, from a subprocess return code."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
