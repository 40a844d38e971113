"""The command as its users run it, with nothing of this machine's settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from astra.cli import run
from tests.client.scripted import TOKEN, Scripted, scripted

STEERING = ("ASTRALYX_", "FORCE_COLOR", "NO_COLOR", "TTY_", "COLUMNS", "_ASTRA_COMPLETE")


class Done(NamedTuple):
    """How a command ended: its exit code, and what it printed."""

    code: int
    out: str
    err: str


Astra = Callable[..., Done]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """A scripted server that the environment names, with a token for it."""
    with scripted() as server:
        monkeypatch.setenv("ASTRALYX_API", server.address)
        monkeypatch.setenv("ASTRALYX_TOKEN", TOKEN)
        yield server


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing steers the command, and no proxy stands between it and the loopback."""
    for name in os.environ:
        if name.startswith(STEERING) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def astra(plain_environment: None, capfdbinary: pytest.CaptureFixture[bytes]) -> Astra:
    """Run the command in this process."""

    def run_it(*arguments: str) -> Done:
        code = run(arguments)
        printed = capfdbinary.readouterr()
        return Done(code, printed.out.decode(), printed.err.decode())

    return run_it
