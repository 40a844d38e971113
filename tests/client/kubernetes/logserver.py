"""A scripted API server that has the logs of containers too, as nodes keep them: stamped, turned, gone."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from astra.collect.kubernetes import raw
from tests.client.kubernetes.apiserver import ApiServer, end_stream, refuse, send

POD = re.compile(r"^/api/v1/namespaces/([^/]+)/pods/([^/]+)(/log)?$")
SLOW_BYTES = 7


class LogServer(ApiServer):
    """`texts`: the lines of a container's incarnation; `turned_at`: from which line on they are still in its file.

    `troubles` befall the requests for logs one by one: a status, "drop" (in the middle of a line, after so many bytes),
    "slow" (in small pieces), "" for none.
    """

    def __init__(self, resources: tuple[str, ...]) -> None:
        self.texts: dict[tuple[str, int], list[bytes]] = {}
        self.turned_at: dict[tuple[str, int], int] = {}
        self.troubles: list[str] = []
        self.asked: list[dict[str, str]] = []
        self.ends = 0
        super().__init__(resources)

    def write(self, pod: str, incarnation: int, *lines: str) -> None:
        """A container writes lines, each with its stamp."""
        with self.turned:
            self.texts.setdefault((pod, incarnation), []).extend(line.encode() + b"\n" for line in lines)
            self.turned.notify_all()

    def turn(self, pod: str, incarnation: int) -> None:
        """The node turns the log's file: what stands in it is read only by those that follow it."""
        with self.turned:
            self.turned_at[pod, incarnation] = len(self.texts[pod, incarnation])

    def end_streams(self) -> None:
        """End the logs that are followed now, as if their containers had ended."""
        with self.turned:
            self.ends += 1
            self.turned.notify_all()

    def wait_for_follower(self, count: int) -> None:
        """Wait until so many requests for logs have come."""
        with self.turned:
            assert self.turned.wait_for(lambda: len(self.asked) >= count, 30.0), self.asked

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(to.path)
        found = POD.match(parts.path)
        if found is None:
            return super().answer(to)
        pods = self.kept["pods"].objects.values()
        pod = next((one for one in pods if one["metadata"]["name"] == found[2]), None)
        if pod is None:
            return refuse(to, 404, f'pods "{found[2]}" not found')
        if not found[3]:
            return send(to, 200, json.dumps(pod))
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        with self.turned:
            self.asked.append(query)
            self.turned.notify_all()
            trouble = self.troubles.pop(0) if self.troubles else ""
        if trouble.isdigit():
            return refuse(to, int(trouble), "pods/log is forbidden" if trouble == "403" else "scripted")
        with suppress(OSError):
            self.send_log(to, pod, query, trouble)
        return None

    def send_log(self, to: BaseHTTPRequestHandler, pod: dict[str, Any], query: dict[str, str], trouble: str) -> None:
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        assert query["timestamps"] == "true"
        (status,) = [one for one in pod["status"]["containerStatuses"] if one["name"] == query["container"]]
        key = (name, status["restartCount"] - (query.get("previous") == "true"))
        since = raw.ms(query.get("sinceTime", "1970-01-01T00:00:00Z")) or 0
        to.send_response(200)
        to.send_header("Content-Type", "text/plain")
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()
        sent, ends = self.turned_at.get(key, 0), self.ends
        while True:
            with self.turned:
                if self.ends != ends:
                    return end_stream(to)
                fresh = self.texts.get(key, [])[sent:]
                if not fresh and not self.closing and self.is_running(uid, key[1]) and query.get("follow") == "true":
                    self.turned.wait(0.1)
                    continue
            sent += len(fresh)
            data = b"".join(line for line in fresh if (raw.ms(line.split()[0].decode()) or 0) >= since)
            if trouble == "drop" and data:
                chunk(to, data[: len(data) - 20])
                to.close_connection = True
                return None
            for piece in [data[at : at + SLOW_BYTES] for at in range(0, len(data), SLOW_BYTES)] if trouble else [data]:
                chunk(to, piece)
            if not fresh or query.get("follow") != "true":
                return end_stream(to)

    def is_running(self, uid: str, incarnation: int) -> bool:
        pod = self.kept["pods"].objects.get(uid)
        if pod is None:
            return False
        (status,) = pod["status"]["containerStatuses"]
        return status["restartCount"] == incarnation and "running" in status["state"]


def chunk(to: BaseHTTPRequestHandler, data: bytes) -> None:
    if data:
        to.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        to.wfile.flush()


def stamped(at_ms: int, text: str) -> str:
    """Return a line as a node gives it."""
    return f"{raw.iso(at_ms).removesuffix('Z')}000000Z {text}"


def now_ms() -> int:
    return int(time.time() * 1000)
