"""A TCP proxy before Postgres that cuts the line around a COMMIT, so that nobody learns what became of it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Literal

from django.db import connection

COMMIT = b"COMMIT\x00"
type_cut = Literal["before", "sent", "answered"]


@dataclass
class Proxy:
    """Cuts the connection at the `at`-th COMMIT from now on: before it is passed on, when it was, or at its answer."""

    target: Path
    listener: socket.socket
    cut: type_cut = "before"
    at: int = 0
    commits: int = 0
    cuts: int = 0
    threads: list[Thread] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def arm(self, cut: type_cut, at: int) -> None:
        self.cut, self.at, self.commits, self.cuts = cut, at, 0, 0

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                front, _ = self.listener.accept()
                back = socket.socket(socket.AF_UNIX)
                back.connect(str(self.target))
                line = Line(self, front, back)
                self.threads += [Thread(target=line.forth, daemon=True), Thread(target=line.back_again, daemon=True)]
                for thread in self.threads[-2:]:
                    thread.start()


@dataclass
class Line:
    """One connection through the proxy."""

    proxy: Proxy
    front: socket.socket
    back: socket.socket
    dropping: bool = False

    def forth(self) -> None:
        """Pass on what the application sends. It sends a COMMIT alone and waits, so one is never split in two."""
        with suppress(OSError):
            while data := self.front.recv(1 << 16):
                if self.is_the_commit(data) and self.cut(data):
                    break
                self.back.sendall(data)
        self.close()

    def back_again(self) -> None:
        with suppress(OSError):
            while data := self.back.recv(1 << 16):
                if self.dropping:
                    break
                self.front.sendall(data)
        self.close()

    def is_the_commit(self, data: bytes) -> bool:
        self.proxy.commits += COMMIT in data
        return COMMIT in data and self.proxy.commits == self.proxy.at

    def cut(self, data: bytes) -> bool:
        """Return whether the line is cut at once; else it is when the answer comes."""
        self.proxy.cuts += 1
        if self.proxy.cut == "sent":
            self.back.sendall(data)
        self.dropping = self.proxy.cut == "answered"
        return not self.dropping

    def close(self) -> None:
        for end in (self.front, self.back):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def through_a_proxy() -> Iterator[Proxy]:
    """The connections of this block go through a proxy on 127.0.0.1."""
    connection.close()
    direct = dict(connection.settings_dict)
    options = dict(direct["OPTIONS"])
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = Proxy(Path(direct["HOST"]) / f".s.PGSQL.{direct['PORT']}", listener)
    Thread(target=proxy.serve, daemon=True).start()
    connection.settings_dict.update(
        HOST="127.0.0.1", PORT=str(proxy.port), OPTIONS=options | {"sslmode": "disable", "gssencmode": "disable"}
    )
    try:
        yield proxy
    finally:
        connection.close()
        connection.settings_dict.update(direct)
        listener.close()
