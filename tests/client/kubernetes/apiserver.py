"""A scripted API server: lists in pages, watches with bookmarks, and every way in which either can fail."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PATIENCE = 60.0


@dataclass
class Fault:
    """What goes wrong once with a resource: on a `list`, as a `watch` is opened, or within its `stream`."""

    resource: str
    where: str
    what: str  # a status, or for streams: "410", "drop", "end", "garbage"; for lists: "slow"


class Clock:
    """The recording's instant. Who receives something asks for it."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.turned = threading.Condition()

    def __call__(self) -> int:
        with self.turned:
            self.turned.notify_all()
            return self.at

    def set(self, at: int) -> None:
        with self.turned:
            self.at = max(self.at, at)

    def wait_for(self, true: Callable[[], bool], what: str) -> None:
        """Wait until something is true that becomes so when the clock is asked."""
        until = time.monotonic() + PATIENCE
        with self.turned:
            while not true():
                assert time.monotonic() < until, f"{what} received nothing"
                self.turned.wait(0.002)


@dataclass
class Kept:
    """A resource: its objects by uid, its changes in order with their versions, and how far back they are kept."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    changes: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    oldest: int = 0
    streams: int = 0
    opened: int = 0


class ApiServer:
    """Serves on a free port of the loopback until it is closed."""

    def __init__(self, resources: Iterable[str], page: int = 2) -> None:
        self.kept = {name: Kept() for name in resources}
        self.page = page
        self.version = 1000
        self.faults: list[Fault] = []
        self.hit: Counter[tuple[str, str, str]] = Counter()
        self.requests: Counter[tuple[str, str]] = Counter()
        self.leases: dict[str, dict[str, Any]] = {}
        self.token = ""
        self.turned = threading.Condition()
        self.closing = False
        self.connections: set[socket.socket] = set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections.add(self.connection)

            def finish(self) -> None:
                with suppress(OSError):
                    super().finish()
                server.connections.discard(self.connection)

            def do_GET(self) -> None:
                server.answer(self)

            def do_POST(self) -> None:
                server.write_lease(self)

            def do_PUT(self) -> None:
                server.write_lease(self)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Http(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: Any) -> None:
                """A client that went away is no error."""

        self.http = Http(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self) -> ApiServer:
        return self

    def __exit__(self, *_: object) -> None:
        with self.turned:
            self.closing = True
            self.turned.notify_all()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.http.shutdown()
        self.http.server_close()

    def load(self, resource: str, objects: list[dict[str, Any]]) -> None:
        self.kept[resource].objects = {one["metadata"]["uid"]: one for one in objects}

    def change(self, resource: str, kind: str, of: dict[str, Any]) -> None:
        """Change an object and tell those that watch."""
        with self.turned:
            self.version += 1
            kept = self.kept[resource]
            if kind in ("ADDED", "MODIFIED"):
                kept.objects[of["metadata"]["uid"]] = of
            elif kind == "DELETED":
                kept.objects.pop(of["metadata"]["uid"], None)
            of = {**of, "metadata": {**of["metadata"], "resourceVersion": str(self.version)}}
            kept.changes.append((self.version, kind, of))
            self.turned.notify_all()

    def wait_for_watch(self, resource: str) -> None:
        """Wait until somebody watches a resource."""
        with self.turned:
            assert self.turned.wait_for(lambda: self.kept[resource].streams > 0, PATIENCE), f"nobody watches {resource}"

    def fault(self, resource: str, where: str) -> str:
        """Return what is to go wrong now, once, "" for nothing."""
        with self.turned:
            for fault in self.faults:
                if (fault.resource, fault.where) == (resource, where):
                    self.faults.remove(fault)
                    self.hit[resource, where, fault.what] += 1
                    self.turned.notify_all()
                    return fault.what
        return ""

    def wait_until_hit(self) -> None:
        """Wait until every fault has happened."""
        with self.turned:
            assert self.turned.wait_for(lambda: not self.faults, PATIENCE), self.faults

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(to.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        resource, lease = named(parts.path), parts.path.rpartition("/")[2]
        watch = query.get("watch") == "true"
        self.requests[resource, "watch" if watch else "list"] += 1
        if self.token and to.headers.get("Authorization") != f"Bearer {self.token}":
            return refuse(to, 401, "Unauthorized")
        if "/leases/" in parts.path:
            found = self.leases.get(lease)
            return refuse(to, 404, "not found") if found is None else send(to, 200, json.dumps(found))
        if resource not in self.kept:
            return send(to, 404, "404 page not found\n", "text/plain")
        what = self.fault(resource, "watch" if watch else "list")
        if what == "drop":
            to.close_connection = True
            return None
        if what and what.isdigit():
            return refuse(to, int(what), f"{resource} is forbidden: User cannot" if what == "403" else "scripted")
        if watch:
            return self.stream(to, resource, query)
        return self.list(to, resource, query, slow=what == "slow")

    def list(self, to: BaseHTTPRequestHandler, resource: str, query: dict[str, str], *, slow: bool) -> None:
        with self.turned:
            objects, version = list(self.kept[resource].objects.values()), self.version
        start = int(query.get("continue", "0"))
        end = start + min(int(query.get("limit", "500")), self.page)
        metadata = {"resourceVersion": str(version), **({"continue": str(end)} if end < len(objects) else {})}
        if slow:
            threading.Event().wait(0.05)
        send(to, 200, json.dumps({"kind": "List", "metadata": metadata, "items": objects[start:end]}))

    def stream(self, to: BaseHTTPRequestHandler, resource: str, query: dict[str, str]) -> None:
        kept, sent = self.kept[resource], int(query["resourceVersion"])
        to.send_response(200)
        to.send_header("Content-Type", "application/json")
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()
        if sent < kept.oldest:
            write(to, expired())
            return end_stream(to)
        if sent >= self.version:
            write(to, {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self.version)}}})
        with self.turned:
            kept.streams += 1
            kept.opened += 1
            self.turned.notify_all()
        try:
            self._follow(to, resource, sent, time.monotonic() + int(query["timeoutSeconds"]))
        except OSError:
            return None
        finally:
            with self.turned:
                kept.streams -= 1
                self.turned.notify_all()

    def _follow(self, to: BaseHTTPRequestHandler, resource: str, sent: int, until: float) -> None:
        kept = self.kept[resource]
        while True:
            with self.turned:
                fresh = [change for change in kept.changes if change[0] > sent]
                if not fresh and not self.closing:
                    self.turned.wait(0.2)
                if self.closing:
                    return end_stream(to)
            for version, kind, of in fresh:
                write(to, {"type": kind, "object": of})
                sent = version
            what = self.fault(resource, "stream") or ("end" if time.monotonic() > until else "")
            if what == "410":
                write(to, expired())
                return end_stream(to)
            if what == "drop":
                to.close_connection = True
                to.connection.close()
                return None
            if what == "garbage":
                to.wfile.write(b'9\r\n{"type":"\r\n')
                to.close_connection = True
                return None
            if what == "end":
                return end_stream(to)

    def write_lease(self, to: BaseHTTPRequestHandler) -> None:
        body = json.loads(to.rfile.read(int(to.headers["Content-Length"])))
        name = body["metadata"]["name"]
        with self.turned:
            known = self.leases.get(name)
            if known is not None and body["metadata"].get("resourceVersion") != known["metadata"]["resourceVersion"]:
                return refuse(to, 409, "conflict")
            self.version += 1
            body["metadata"]["resourceVersion"] = str(self.version)
            self.leases[name] = body
        return send(to, 200, json.dumps(body))


def named(path: str) -> str:
    """Return a resource's name of its path: pods, or pytorchjobs.kubeflow.org."""
    parts = path.strip("/").split("/")
    group = parts[1] if parts[0] == "apis" else ""
    rest = parts[3:] if group else parts[2:]
    if rest and rest[0] == "namespaces":
        rest = rest[2:]
    plural = rest[0] if rest else ""
    if plural == "mpijobs" and parts[2] != "v1":
        return "none"
    return f"{plural}.{group}" if group else plural


def send(to: BaseHTTPRequestHandler, status: int, body: str, media: str = "application/json") -> None:
    data = body.encode()
    to.send_response(status)
    to.send_header("Content-Type", media)
    to.send_header("Content-Length", str(len(data)))
    to.end_headers()
    to.wfile.write(data)


def refuse(to: BaseHTTPRequestHandler, status: int, message: str) -> None:
    send(to, status, json.dumps({"kind": "Status", "status": "Failure", "message": message, "code": status}))


def expired() -> dict[str, Any]:
    return {"type": "ERROR", "object": {"kind": "Status", "reason": "Expired", "code": 410, "message": "too old"}}


def write(to: BaseHTTPRequestHandler, event: dict[str, Any]) -> None:
    data = json.dumps(event).encode() + b"\n"
    to.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
    to.wfile.flush()


def end_stream(to: BaseHTTPRequestHandler) -> None:
    to.wfile.write(b"0\r\n\r\n")
    to.wfile.flush()
