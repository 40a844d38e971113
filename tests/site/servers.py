"""Servers as a real installation brings them: a Postgres as Debian has it, and Redis, each on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.site.running import eventually, free_port

INSTALLED = Path("/usr/lib/postgresql")


def account() -> str | None:
    """Whom Postgres runs as: it refuses to be root."""
    return "postgres" if os.geteuid() == 0 else None


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start a Postgres whose data is in `folder`; yields the DATABASE_URL of an empty database."""
    programs = max(INSTALLED.glob("*/bin"), key=lambda found: int(found.parent.name))
    folder.mkdir(mode=0o755, parents=True)
    if account():
        shutil.chown(folder, account())
    data, port = folder / "data", free_port()

    def run(*arguments: str) -> None:
        subprocess.run(
            [programs / arguments[0], *arguments[1:]], check=True, capture_output=True, user=account(), cwd="/"
        )

    run("initdb", "-D", str(data), "-A", "trust", "-U", "goodput", "-E", "UTF8", "--no-sync")
    serving = subprocess.Popen(
        [programs / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", folder, "-F"],
        user=account(), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        ready = [programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-q"]
        eventually(lambda: subprocess.run(ready, check=False).returncode == 0)
        run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "goodput", "goodput")
        yield f"postgres://goodput@127.0.0.1:{port}/goodput"
    finally:
        serving.terminate()
        serving.wait(90)


class Redis:
    """A Redis that keeps nothing."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
            stdout=subprocess.DEVNULL,
        )
        eventually(lambda: self.say("ping") == "PONG")

    def say(self, *words: str) -> str:
        asked = ["redis-cli", "-p", str(self.port), *words]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def redis() -> Iterator[Redis]:
    server = Redis(free_port())
    try:
        yield server
    finally:
        server.kill()
