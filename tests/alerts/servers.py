"""Real servers on loopback that receive what is sent: HTTP as told, and SMTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message as Mail
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller

from ledger.notify.message import Setup
from tests.site.running import free_port

LOOPBACK = Setup(site="https://goodput.example", mail_from="goodput@example.com", networks=("127.0.0.0/8",))


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Hook:
    """An HTTP server; `answers` says what to do with a request: a status, or a function that writes by itself."""

    port: int
    answers: int | Callable[[BaseHTTPRequestHandler], None] = 200
    received: list[Received] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def hook(answers: int | Callable[[BaseHTTPRequestHandler], None] = 200) -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            one.received.append(Received(self.path, dict(self.headers), body))
            if callable(one.answers):
                one.answers(self)
                return
            self.send_response(one.answers)
            self.end_headers()

        def do_GET(self) -> None:
            one.received.append(Received(self.path, dict(self.headers), b""))

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    one = Hook(server.server_port, answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield one
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Postbox:
    port: int
    mails: list[tuple[list[str], Mail]] = field(default_factory=list)
    answer: str = "250 OK"


@contextmanager
def postbox() -> Iterator[Postbox]:
    class Handler:
        async def handle_DATA(self, _: Any, __: Any, envelope: Any) -> str:  # noqa: N802  # the library's name
            if box.answer.startswith("250"):
                box.mails.append((envelope.rcpt_tos, message_from_bytes(envelope.content)))
            return box.answer

    box = Postbox(free_port())
    controller = Controller(Handler(), hostname="127.0.0.1", port=box.port)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
