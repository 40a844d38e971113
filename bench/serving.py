"""A web process as it runs in production, on loopback, and what it and Postgres cost."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.costs import below, cpu_of
from goodput_site.processes import dying_with


@dataclass
class Web:
    """A granian with one worker, and a connection to it."""

    pid: int
    connection: http.client.HTTPConnection
    address: str
    token: str

    def post(self, content: bytes) -> bytes:
        """Send observations. Raises RuntimeError when they are not taken."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request("POST", self.address, content, headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != 202:
            raise RuntimeError(f"{response.status}: {answer[:500]!r}")
        return answer

    def cpu(self) -> float:
        """Return the CPU seconds that it and its children took so far."""
        return cpu_of(below(self.pid))


@contextmanager
def serving(cluster: str, token: str, log: Path) -> Iterator[Web]:
    """Start the web application with one worker on a free port and stop it in the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "goodput_site.wsgi:application", "--no-ws"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1", "--blocking-threads", "4"]
    before = dying_with(signal.SIGTERM, os.getpid())
    with log.open("ab") as out:
        env = {**os.environ, "GOODPUT_PROCESS": "web"}
        process = subprocess.Popen(command, stdout=out, stderr=out, env=env, preexec_fn=before)
    try:
        wait_for(port, process)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        yield Web(process.pid, connection, f"/v1/clusters/{cluster}/observations", token)
        connection.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens. Raises RuntimeError when the process ended, or after a minute."""
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"the web process ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the web process does not listen")
