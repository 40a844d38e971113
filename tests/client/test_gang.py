"""A gang of real processes that trains and reports to a real server: one slow, one hung, one killed and restarted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pytest_django.live_server_helper import LiveServer

from ledger import queries
from ledger.access import scope_of_organization
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.core.categories import Category
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Organization, Straggle, Token, Worker, Workspace
from ledger.straggling import look

CLIENT = Path(__file__).parents[2] / "client"
PACE, SLOW = 0.1, 0.25
LOOP = """
import sys, time
from astra import GoodputReporter, GoodputTracker
pace, hangs_at = float(sys.argv[1]), int(sys.argv[2])
tracker = GoodputTracker()
reporter = GoodputReporter(tracker=tracker, every_sec=0.5)
for step in range(1_000_000):
    tracker.start_batch()
    with tracker.time_source():
        time.sleep(0.01)
    tracker.end_batch()
    with reporter.step(step):
        time.sleep(pace)
        values = sum(number * number for number in range(1_000))
    if step == hangs_at:
        time.sleep(1_000)
"""


class Gang:
    """Four workers of the run r1 on machines of their own."""

    def __init__(self, address: str, spool: Path) -> None:
        self.organization = Organization.objects.create(name="acme")
        self.vision = Workspace.objects.create(organization=self.organization, name="vision")
        self.cluster = Cluster.objects.create(organization=self.organization, name="east", stall_after_ms=3_000)
        self.scope = scope_of_organization(self.organization)
        self.address, self.spool = address, spool
        self.token = Token.issue(self.organization, None, ["ingest"])[1]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def says(self, *workers: dict[str, Any]) -> None:
        body = {"source": "agent", "sent_at": now(), "runs": [{"uid": "r1", "name": "llm", "workspace": "vision"}]}
        receipt = ingest(self.cluster, decode(json.dumps({**body, "workers": workers}).encode(), "application/json"))
        assert receipt.refused == []

    def start(self, worker: str, pace: float = PACE, hangs_at: int = -1) -> None:
        said = {"API": self.address, "TOKEN": self.token, "RUN": "r1", "WORKER": worker, "SPOOL": str(self.spool)}
        env = {f"ASTRALYX_{name}": value for name, value in said.items()}
        env |= {"PYTHONPATH": str(CLIENT), "PATH": os.environ["PATH"]}
        self.processes[worker] = subprocess.Popen([sys.executable, "-c", LOOP, str(pace), str(hangs_at)], env=env)

    def until(self, true: Any) -> None:
        end = time.monotonic() + 180
        while not true():
            assert time.monotonic() < end, list(Worker.objects.values("name", "step", "recent", "step_ms"))
            look(self.cluster)
            time.sleep(0.2)


def now() -> str:
    return datetime.now(UTC).isoformat()


def test_a_slow_a_hung_and_a_restarted_worker(transactional_db: None, live_server: LiveServer, tmp_path: Path) -> None:
    gang = Gang(live_server.url, tmp_path)
    names = [f"w{number}" for number in range(4)]
    states = {"run": "r1", "at": now(), "phase": "running", "gpus": 8, "pool": "p"}
    gang.says(*({**states, "worker": name, "machine": f"gpu-{name}"} for name in names))
    try:
        for name in names:
            gang.start(name, SLOW if name == "w1" else PACE, hangs_at=20 if name == "w2" else -1)
        gang.until(lambda: Straggle.objects.filter(worker__name="w1").exists())
        # three minutes are not waited for: the suspicion is made three minutes older
        Straggle.objects.filter(worker__name="w1").update(since=datetime.now(UTC) - timedelta(minutes=3, seconds=1))
        gang.until(lambda: "w1" in {one.worker for one in queries.stragglers_now(gang.scope)})
        gang.until(lambda: [one.worker for one in queries.stalled_now(gang.scope)] == ["w2"])
        hung = Worker.objects.get(name="w2")
        assert hung.step == 20
        (stalled,) = queries.stalled_now(gang.scope)
        assert hung.progress_at is not None
        assert stalled.since == round(hung.progress_at.timestamp() * 1000)
        gang.processes["w3"].kill()
        gang.processes["w3"].wait()
        gang.says({"run": "r1", "worker": "w3", "at": now(), "phase": "failed", "reason": "failure"})
        gang.says({"run": "r1", "worker": "w3", "at": now(), "phase": "starting", "attempt": 2})
        gang.says({"run": "r1", "worker": "w3", "at": now(), "phase": "running", "attempt": 2})
        before = Worker.objects.get(name="w3").step or 0
        gang.start("w3")
        gang.until(lambda: (Worker.objects.get(name="w3").step or 0) < before)
    finally:
        for process in gang.processes.values():
            process.kill()
            process.wait()
    found = queries.find_run(gang.scope, "r1")
    assert found is not None
    lanes = dict(queries.timeline(found, 0, 1 << 42, 1_000).workers)
    assert [one.category for one in lanes["w2"]][-1] is Category.STALLED
    assert [one.category for one in lanes["w3"]] == [
        Category.PRODUCTIVE, Category.FAILURE, Category.RESTART, Category.PRODUCTIVE,
    ]  # fmt: skip
    assert {one.name for one in queries.pipeline(found, 0, 1 << 42) if one.batches} == set(names)
    categorize(gang.cluster)
    assert list(check(gang.cluster.pk, queries.now()))[-1].differences == []
