"""A ledger on loopback that takes reports, or is away, slow or unwilling, as a test says."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "goodput_0123456789"
WAIT_SEC = 60.0


@dataclass
class Ledger:
    """What arrived, in order; `status` is what it answers from now on."""

    address: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b'{"accepted": 1, "duplicate": 0, "late": 0, "refused": []}'
    hold: threading.Event = field(default_factory=threading.Event)  # cleared: it answers nobody
    paths: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    posts: list[list[dict[str, Any]]] = field(default_factory=list)
    tries: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [report for post in self.posts for report in post]

    def wait(self, enough: Callable[[Ledger], bool]) -> None:
        """Wait until what arrived is enough."""
        with self.changed:
            assert self.changed.wait_for(lambda: enough(self), WAIT_SEC), self.posts

    def take(self, path: str, token: str, body: bytes) -> None:
        with self.changed:
            self.tries += 1
            if self.status == 200:
                self.paths.append(path)
                self.tokens.append(token)
                self.posts.append(json.loads(body)["batches"])
            self.changed.notify_all()


@contextmanager
def ledger(port: int = 0) -> Iterator[Ledger]:
    """Serve until the block ends."""
    told = Ledger("")
    told.hold.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.hold.wait(WAIT_SEC)
            told.take(self.path, self.headers["Authorization"], body)
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(told.answer)))
            self.end_headers()
            self.wfile.write(told.answer)

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Whoever asked is gone by now."""

    server = Server(("127.0.0.1", port), Handler)
    told.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that nobody tells of."""
    end = time.monotonic() + WAIT_SEC
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
