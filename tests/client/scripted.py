"""A server on loopback that answers what a test told it to, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "goodput_0123456789"
LEDGERS = "goodput"
HOUR = 3_600_000_000
CATEGORIES = ("productive", "idle", "stalled", "starting", "restart", "failure", "preemption", "waiting")
PROBLEM = "application/problem+json"

Answer = tuple[int, dict[str, str], bytes]
Handler = Callable[[dict[str, str]], Answer]


@dataclass
class Scripted:
    """What is answered by path (below /v1/), and every request as (path, query, headers)."""

    address: str
    answers: dict[str, Handler] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)

    def says(self, path: str, answer: Mapping[str, Any] | bytes | Handler) -> None:
        """Answer so from now on: a document, a body, or what a function of the query returns."""
        if callable(answer):
            self.answers[path] = answer
            return
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.answers[path] = lambda _: (200, {"Content-Type": "application/json"}, body)

    def refuses(self, path: str, status: int, detail: str = "No.", **headers: str) -> None:
        self.answers[path] = lambda _: problem(status, detail, **headers)

    def asked(self, path: str) -> list[dict[str, str]]:
        """Return the queries that a path was asked with."""
        return [query for asked, query, _ in self.requests if asked == path]


def problem(status: int, detail: str, **headers: str) -> Answer:
    body = {"type": "about:blank", "title": "x", "status": status, "detail": detail}
    return status, {"Content-Type": PROBLEM, **headers}, json.dumps(body).encode()


def document(of: Mapping[str, Any]) -> Answer:
    return 200, {"Content-Type": "application/json"}, json.dumps(of).encode()


@contextmanager
def scripted() -> Iterator[Scripted]:
    """Serve on a free port until the test is over."""

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            path, query = address.path.removeprefix("/v1/"), dict(parse_qsl(address.query))
            server.requests.append((path, query, dict(self.headers.items())))
            handler = server.answers.get(path)
            status, headers, body = handler(query) if handler else problem(404, "There is nothing at this address.")
            with suppress(ConnectionError):  # whoever asked may be gone
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Requests) as listening:
        listening.daemon_threads = False  # nothing of a test goes on after it
        server = Scripted(f"http://127.0.0.1:{listening.server_address[1]}")
        thread = Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def ledger(waits: Mapping[str, float] | None = None, blind: float = 0, **hours: float) -> dict[str, Any]:
    """Return a ledger in gpu_us: GPU-hours held; `waits`: not held, by cause; `blind`: productive and unobserved."""
    held = {label: round(hours.get(label, 0) * HOUR) for label in CATEGORIES}
    unheld = {label: round((waits or {}).get(label, 0) * HOUR) for label in CATEGORIES}
    both = {label: held[label] + unheld[label] for label in CATEGORIES}
    asked, used = sum(both.values()), both["productive"]
    amounts = {
        "allocated_gpu_hours": sum(held.values()),
        "productive_gpu_hours": used,
        "lost_gpu_hours": asked - used,
        "waiting_gpu_hours": sum(unheld.values()),
        "unobserved_gpu_hours": round(blind * HOUR),
        "unobserved_productive_gpu_hours": round(blind * HOUR),
    }
    return {
        "gpu_hours": {label: str(amount) for label, amount in both.items()},
        "held_gpu_hours": {label: str(amount) for label, amount in held.items()},
        **{name: str(amount) for name, amount in amounts.items()},
        "biggest_loss": None,
    }


def row(name: str, of: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"name": name, **more, **of}


def envelope(rows: list[dict[str, Any]], total: dict[str, Any], by: str = "run", **more: Any) -> dict[str, Any]:
    """Return an answer of seven days of which the last hour still runs."""
    return {
        "start": "2026-09-24T13:00:00Z", "end": "2026-10-01T13:00:00Z", "by": by,
        "counted_until": "2026-10-01T12:34:56.789Z", "complete": False,
        "rows": rows, "total": total, "next": None, **more,
    }  # fmt: skip
