"""Two real agents, killed −9 every few seconds while a recording goes on in real time: nothing lost or doubled."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

from astra.collect.kubernetes import raw
from ledger.categorizer import categorize
from ledger.decode import decode
from ledger.ingest import ingest
from tests.client.kubernetes.apiserver import ApiServer
from tests.client.kubernetes.playing import changes, differences, lanes
from tests.client.kubernetes.recordings import Event, Recording, recording
from tests.client.kubernetes.test_recordings import off, wanted
from tests.evidence import Settings as Rules
from tests.postgres_world import make_cluster

INSTANT = re.compile(r'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"')
CLIENT = Path(__file__).parents[3] / "client"
UNTIMED = 1_500  # ms: a DELETED has no time of its own, it is when an agent saw it, and that may be after its restart


def moved(value: Any, by: int) -> Any:
    """Return a document with all its instants moved by so many ms."""

    def move(found: re.Match[str]) -> str:
        at = raw.ms(found[1])
        assert at is not None
        text = raw.iso(at + by)
        return f'"{text if "." in found[1] else text.replace(".000Z", "Z")}"'

    return json.loads(INSTANT.sub(move, json.dumps(value)))


def moved_recording(of: Recording, by: int) -> Recording:
    events = tuple(Event(e.resource, e.at + by, e.type, moved(e.object, by)) for e in of.events)
    return replace(of, lists=moved(of.lists, by), events=events, expected=moved(of.expected, by))


class Ledger:
    """Takes observations and keeps them with the instant at which they came."""

    def __init__(self) -> None:
        self.bodies: list[tuple[int, str, bytes]] = []
        ledger = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                ledger.bodies.append((int(time.time() * 1000), self.headers["Content-Type"], body))
                answer = json.dumps({"accepted": 1, "duplicate": 0, "late": 0, "refused": []}).encode()
                self.send_response(202)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


class Killed:
    """An agent as a process that is killed −9 and begun again until it may end."""

    def __init__(self, server: ApiServer, ledger: Ledger, folder: Path, rng: Random) -> None:
        self.kills, self.rng, self.over = 0, rng, threading.Event()
        config = {
            "current-context": "east",
            "contexts": [{"name": "east", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        }
        folder.mkdir()
        (folder / "config").write_text(json.dumps(config))
        own = {"PYTHONPATH": str(CLIENT), "KUBECONFIG": str(folder / "config"), "ASTRALYX_SPOOL": str(folder / "spool")}
        self.env = {**os.environ, **own, "ASTRALYX_API": ledger.url, "ASTRALYX_TOKEN": "t" * 40}
        self.log = (folder / "log").open("w")
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        command = [sys.executable, "-m", "astra", "collect", "kubernetes", "--cluster", "east"]
        while True:
            process = subprocess.Popen(
                [*command, "--pool-label", "example.com/pool"], env=self.env, stderr=self.log, stdout=self.log
            )
            if self.over.wait(self.rng.uniform(2.5, 6.0)):
                time.sleep(6.0)
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0
                return
            process.kill()
            process.wait()
            self.kills += 1

    def end(self) -> None:
        self.over.set()
        self.thread.join(60)
        self.log.close()


@pytest.mark.soak
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["happy_gang4", "trainjob_v2", "suspend_resume", "drain_eviction"])
def test_two_agents_killed_every_few_seconds(name: str, tmp_path: Path) -> None:
    of = recording(name)
    of = moved_recording(of, (int(time.time()) + 3) * 1000 - of.began // 1000 * 1000)
    ledger, rng = Ledger(), Random(name)
    with ApiServer(list(of.lists)) as server:
        for resource, listed in of.lists.items():
            server.load(resource, listed["raw"]["items"])
        agents = [Killed(server, ledger, tmp_path / str(number), rng) for number in range(2)]
        for event in changes(of):
            time.sleep(max(event.at / 1000 - time.time(), 0))
            server.change(event.resource, event.type, event.object)
        for agent in agents:
            agent.end()
    ledger.http.shutdown()
    ledger.http.server_close()
    assert sum(agent.kills for agent in agents) >= 6
    cluster = make_cluster(Rules(), of.began - 3_600_000)
    for at, media, body in ledger.bodies:
        assert not ingest(cluster, decode(body, media), now=at).refused
    categorize(cluster, now=ledger.bodies[-1][0])
    found, right = lanes(cluster, of.ended), wanted(of)
    wrong = {key: ms for key in right if (ms := off(found[key], right[key])) > UNTIMED}
    assert wrong == {}, (tmp_path / "0" / "log").read_text()
    assert not differences(cluster, ledger.bodies[-1][0])
