"""What it costs to follow the logs of 512 pods: `.venv/bin/python -m bench.podlogs`."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import tempfile
import time
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import httpx

from astra.api import Api
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.places import Places
from astra.collect.kubernetes.podlogs import LOGS_MAX, PodLogs

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")

from tests.client.kubernetes.building import Told, at, job, node, owned, pod
from tests.client.kubernetes.logserver import LogServer, stamped

LINE_SECONDS, SECONDS = 10, 32
STEP = "completed step: {}, seconds: 1.0, TFLOP/s/device: 100.0"


def objects() -> list[dict[str, Any]]:
    """Return a job that names a profile, and its running pods."""
    of = job(worker=LOGS_MAX)
    of["metadata"]["annotations"] = {"astralyx.io/log-profile": "maxtext"}
    return [of, *(pod(f"p-{n}", runs="12:00:05", **owned(of, "worker", n)) for n in range(LOGS_MAX))]


def serve(address: Queue[str], begin: Any) -> None:
    """Serve the logs; once begun, each has a line every ten seconds."""
    server = LogServer(("pods",))
    server.load("pods", objects()[1:])
    address.put(server.url)
    begin.wait()
    for step in range(100):
        for number in range(LOGS_MAX):
            server.write(f"p-{number}", 0, stamped(at("12:01:00") + step * 1_000, STEP.format(step)))
        time.sleep(LINE_SECONDS)


class Book:
    """Takes what is sent."""

    def __init__(self) -> None:
        self.posts = self.lines = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/logs"):
            return httpx.Response(404, json={})
        self.posts, self.lines = self.posts + 1, self.lines + len(json.loads(request.content)["lines"])
        return httpx.Response(202, json={"read": 0, "again": 0, "left": 0, "events": 0, "frozen": False})


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20


def main() -> None:
    logging.disable(logging.INFO)
    address: Queue[str] = multiprocessing.Queue()
    begin = multiprocessing.Event()
    process = multiprocessing.Process(target=serve, args=(address, begin), daemon=True)
    process.start()
    told, book = Told(), Book()
    access = Access(address.get())
    told.put("12:00:06", node(), *objects())
    before = resident()
    with tempfile.TemporaryDirectory() as folder:
        server = Api("http://ledger", "t" * 40, patience=0, transport=httpx.MockTransport(book))
        logs = PodLogs(access, server, lambda: Places(Path(folder) / "logs.jsonl"))
        logs.start()
        began = time.monotonic()
        while sum(task.reader.is_open for task in logs.tasks.values()) < LOGS_MAX:
            logs.see(told.mapping.runs.values(), speaks=True)
            time.sleep(0.25)
        print(f"{LOGS_MAX} logs open after {time.monotonic() - began:.1f} s")
        begin.set()
        cpu, began = time.process_time(), time.monotonic()
        while time.monotonic() - began < SECONDS:
            logs.see(told.mapping.runs.values(), speaks=True)
            time.sleep(0.25)
        share = (time.process_time() - cpu) / (time.monotonic() - began)
        print(f"{book.lines} lines in {book.posts} requests; {resident() - before} MiB more, {share:.1%} of a core")
        logs.close()
    process.kill()


if __name__ == "__main__":
    main()
