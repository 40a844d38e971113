"""A real `manage.py up` in a state folder and on a port of its own."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from goodput_site.places import CHECKOUT
from goodput_site.processes import is_alive, wait_until

PYTHON = sys.executable
MANAGE = str(CHECKOUT / "manage.py")
PORTS = range(10_000, 32_000)
OURS = ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY", "GOODPUT_SUPERVISED", "GOODPUT_PROCESS", "MAKELEVEL", "DEMO")


def environment(state: Path, **more: str) -> dict[str, str]:
    """This process' environment without what would steer the site, and with the state folder."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**kept, "GOODPUT_STATE": str(state), **more}


def manage(state: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """One management command, to its end."""
    return subprocess.run(
        [PYTHON, MANAGE, *arguments], env=environment(state, **more), capture_output=True, text=True, timeout=60
    )


def free_port() -> int:
    """A port that nobody listens on, of those that the kernel gives nobody by itself: it is still free in a minute."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def eventually(true: Callable[[], bool], seconds: float = 90.0) -> None:
    """Fail when it does not come true."""
    assert wait_until(true, seconds, 0.05), "it never came true"


class Running:
    """The supervisor and what it told on its standard output."""

    def __init__(self, state: Path, port: int, more: Mapping[str, str] | None = None) -> None:
        self.state, self.port = state, port
        self.told = state.parent / f"{state.name}.out"
        env = environment(
            state, PORT=str(port), **{"DEMO": "0", "WEB_WORKERS": "1", "WORKER_CONCURRENCY": "1", **(more or {})}
        )
        with self.told.open("ab") as out:
            self.process = subprocess.Popen(
                [PYTHON, MANAGE, "up"], env=env, stdout=out, stderr=out, start_new_session=True
            )

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> int:
        """TERM, and its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(90)
        finally:
            self.process.kill()
            self.process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def output(self) -> str:
        return self.told.read_text()

    def pid(self, name: str) -> int:
        """Of the newest process of that name."""
        found = re.findall(rf"^\S+ {name} +started \(process (\d+)\)$", self.output(), re.MULTILINE)
        return int(found[-1]) if found else 0

    def pids(self) -> dict[str, int]:
        return {name: self.pid(name) for name in ("postgres", "web", "worker", "beat")}

    def health(self) -> tuple[int, dict[str, str]]:
        """Status and answer of /healthz; status 0 when nothing listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError:
            return 0, {}

    def is_well(self) -> bool:
        assert self.process.poll() is None, self.output()
        return self.health()[0] == 200

    def alive(self, name: str) -> bool:
        return is_alive(self.pid(name))

    def kill(self, name: str) -> None:
        """-9, and wait until another one of the name runs."""
        old = self.pid(name)
        os.kill(old, signal.SIGKILL)
        eventually(lambda: self.pid(name) != old, 60)

    def kill_everything(self) -> None:
        """-9 to the supervisor and to each child, together."""
        for pid in (self.process.pid, *self.pids().values()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def all_gone(pids: list[int]) -> bool:
    return not any(is_alive(pid) for pid in pids)


def descendants(pid: int) -> list[int]:
    """Every living process below `pid`."""
    children = [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if parent_of(stat) == pid]
    return [below for child in children for below in (child, *descendants(child))]


def parent_of(stat: Path) -> int:
    """The parent's pid, of a process that may just be ending."""
    try:
        return int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0
