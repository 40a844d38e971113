"""Prometheus' own programs, as real processes on loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from goodput_site.places import CHECKOUT
from tests.site.running import free_port

DEPLOY = CHECKOUT / "deploy"


def program(name: str) -> str:
    """Where a program is: on the PATH, or where the suite put it."""
    found = shutil.which(name) or shutil.which(name, path=str(CHECKOUT / ".venv/bin"))
    assert found, f"{name} is missing: .ci/prometheus fetches it"
    return found


def promtool(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program("promtool"), *arguments], input=text, capture_output=True, text=True, timeout=60)


class Prometheus:
    """A Prometheus that scrapes what its configuration says."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/api/v1"

    def get(self, path: str, **query: str) -> Any:
        address = f"{self.url}/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{query}: {error.read().decode()}") from None

    def ask(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an instant query."""
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found

    def wait_for(self, expression: str, seconds: float = 120) -> list[dict[str, Any]]:
        """Ask until there is an answer."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if found := self.ask(expression):
                    return found
            except OSError:
                pass
            time.sleep(0.2)
        raise AssertionError(f"no answer to {expression}; targets: {self.get('targets')}")


@contextmanager
def prometheus(config: Path, data: Path) -> Iterator[Prometheus]:
    """Run it until the block is left."""
    port = free_port()
    options = [f"--config.file={config}", f"--storage.tsdb.path={data}", f"--web.listen-address=127.0.0.1:{port}"]
    process = subprocess.Popen([program("prometheus"), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Prometheus(port)
    finally:
        process.terminate()
        process.wait(90)
