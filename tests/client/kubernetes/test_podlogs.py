"""A real agent reads pods' logs for a real server: the measurement is that of the same logs shipped from files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from astra.collect.kubernetes.raw import iso
from ledger.measuring.answers import answer
from ledger.models import LogStream, Measurement, Run, Worker
from tests.client.kubernetes.logserver import LogServer, now_ms, stamped
from tests.client.test_live import CLIENT, Acme, acme, here, process

__all__ = ["acme", "here"]
STEP = "completed step: {}, seconds: 1.0, TFLOP/s/device: 100.0"
PATIENCE = 120.0


class Job:
    """A PyTorchJob with one member that runs since `began` ms, its pod, and what it writes, a step a second."""

    def __init__(self, server: LogServer, name: str, began: int, **annotations: str) -> None:
        self.server, self.name, self.began = server, name, began
        self.uid, self.restarts, self.step, self.at = f"uid-{name}", 0, 0, began
        self.written: dict[int, list[str]] = {0: [], 1: []}
        self.status: dict[str, Any] = {"name": "main", "restartCount": 0, "state": self.runs(began)}
        meta = {"name": name, "namespace": "vision", "uid": self.uid, "creationTimestamp": iso(began)}
        notes = {f"astralyx.io/{key}": value for key, value in annotations.items()}
        template = {"spec": {"containers": [CONTAINER]}}
        spec = {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template}}}
        meta_of_job = {**meta, "annotations": notes}
        self.job = {"kind": "PyTorchJob", "metadata": meta_of_job, "spec": spec, "status": {"conditions": []}}
        self.phase = "Running"
        server.change("pytorchjobs.kubeflow.org", "ADDED", self.job)
        server.change("pods", "ADDED", self.pod())

    def runs(self, at: int) -> dict[str, Any]:
        return {"running": {"startedAt": iso(at)}}

    def ended(self, at: int, code: int) -> dict[str, Any]:
        return {"terminated": {"exitCode": code, "startedAt": iso(self.began), "finishedAt": iso(at)}}

    def pod(self) -> dict[str, Any]:
        labels = {"training.kubeflow.org/replica-type": "master", "training.kubeflow.org/replica-index": "0"}
        owner = {"controller": True, "kind": "PyTorchJob", "name": self.name, "uid": self.uid}
        conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": iso(self.began)}]
        return {
            "kind": "Pod",
            "metadata": {
                "name": f"{self.name}-master-0", "namespace": "vision", "uid": f"pod-{self.name}",
                "creationTimestamp": iso(self.began), "labels": labels, "ownerReferences": [owner],
            },
            "spec": {"containers": [{"name": "side"}, CONTAINER], "nodeName": "gpu-1"},
            "status": {"phase": self.phase, "conditions": conditions, "containerStatuses": [self.status]},
        }  # fmt: skip

    def change(self) -> None:
        self.server.change("pods", "MODIFIED", self.pod())

    def work(self, steps: int) -> None:
        """Write so many steps, with what is no step between them."""
        texts = []
        for _ in range(steps):
            texts += [stamped(self.at, STEP.format(self.step)), stamped(self.at + 1, f"loss of {self.step}")]
            self.step, self.at = self.step + 1, self.at + 1_000
        self.written[self.restarts] += texts
        self.server.write(f"{self.name}-master-0", self.restarts, *texts)

    def restart(self) -> None:
        """It fails and is created again, from an earlier step."""
        ended = self.ended(self.at, 1)
        self.at += 5_000
        self.restarts, self.step = 1, max(self.step - 20, 0)
        self.status = {**self.status, "restartCount": 1, "state": self.runs(self.at), "lastState": ended}
        self.change()

    def end(self) -> None:
        """It completes, and its job with it."""
        self.status = {**self.status, "state": self.ended(self.at, 0)}
        self.phase = "Succeeded"
        self.change()
        over = {"type": "Succeeded", "status": "True", "lastTransitionTime": iso(self.at)}
        self.job["status"] = {"conditions": [over], "completionTime": iso(self.at)}
        self.server.change("pytorchjobs.kubeflow.org", "MODIFIED", self.job)


CONTAINER = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": "8"}}}


class Agent:
    """The agent as a process, which can be killed and begun again."""

    def __init__(self, server: LogServer, acme: Acme, folder: Path) -> None:
        config = {
            "current-context": "east",
            "contexts": [{"name": "east", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        }
        (folder / "config").write_text(json.dumps(config))
        own = {"PYTHONPATH": str(CLIENT), "KUBECONFIG": str(folder / "config"), "ASTRALYX_SPOOL": str(folder / "spool")}
        self.env = {**os.environ, **own, "ASTRALYX_TOKEN": acme.token("ingest")}
        self.log = folder / "log"
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        command = [sys.executable, "-m", "astra", "collect", "kubernetes", "--cluster", "east"]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, env=self.env, stderr=log, stdout=log)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def end(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(90) == 0, self.log.read_text()
        self.process = None


@pytest.fixture
def server() -> Iterator[LogServer]:
    with LogServer(("nodes", "pytorchjobs.kubeflow.org", "pods")) as server:
        meta = {"name": "gpu-1", "uid": "node-1", "creationTimestamp": iso(now_ms() - 10**9)}
        status = {"capacity": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": "True"}]}
        server.load("nodes", [{"kind": "Node", "metadata": meta, "spec": {}, "status": status}])
        yield server


@pytest.fixture
def agent(server: LogServer, here: Acme, tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(server, here, tmp_path)
    yield agent
    agent.kill()


def until(true: Callable[[], bool], agent: Agent) -> None:
    end, pause = time.monotonic() + PATIENCE, threading.Event()
    while not true():
        assert time.monotonic() < end, agent.log.read_text()
        pause.wait(0.1)


def lines_of(uid: str) -> dict[int, int]:
    """Return how many lines of each attempt the server has."""
    found = LogStream.objects.filter(measurement__run__uid=uid).values_list("attempt", "lines")
    return dict(found)


def measured(uid: str) -> dict[str, Any]:
    found = answer(Run.objects.get(uid=uid).pk, now_ms())
    assert found is not None
    return dict(json.loads(found.text))


def shipped(job: Job, acme: Acme, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Ship what a job wrote from files, one an attempt, and return its measurement."""
    monkeypatch.setenv("ASTRALYX_TOKEN", acme.token("ingest", "read"))
    for number, texts in job.written.items():
        path = folder / f"{job.name}-{number}.log"
        path.write_text("".join(f"{text}\n" for text in texts))
        done = process(
            "logs", "ship", "--run", job.uid, "--profile", "maxtext", "--attempt", str(number + 1), "--worker",
            "master-0", "--no-follow", str(path),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return measured(job.uid)


@pytest.mark.parametrize("killed", [False, True], ids=["alive", "killed"])
def test_the_measurement_is_that_of_the_shipped_files(
    server: LogServer, agent: Agent, here: Acme, killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = (now_ms() - 7_200_000) // 1_000 * 1_000
    job = Job(server, "llm-a", began, **{"log-profile": "maxtext"})
    twin = Job(server, "llm-b", began)
    both = (job, twin)

    def death() -> None:
        if killed:
            agent.kill()
            agent.begin()

    for one in both:
        one.work(400)
    server.troubles += ["500", "drop", "slow"]
    agent.begin()
    until(lambda: lines_of(job.uid) == {1: 800}, agent)
    death()
    for one in both:
        one.work(10)
    until(lambda: lines_of(job.uid) == {1: 820}, agent)
    server.turn("llm-a-master-0", 0)
    for one in both:
        one.work(100)
    death()
    for one in both:
        one.work(5)
        one.restart()
        one.work(150)
    expected = {1: 1_030, 2: 300}
    until(lambda: lines_of(job.uid) == expected, agent)
    death()
    for one in both:
        one.work(50)
        one.end()
    until(lambda: lines_of(job.uid) == {**expected, 2: 400}, agent)
    until(lambda: Worker.objects.filter(run__ended_at=None, run__uid__in=[job.uid, twin.uid]).count() == 0, agent)
    agent.end()
    found, right = measured(job.uid), shipped(twin, here, tmp_path, monkeypatch)
    assert found["status"] == right["status"]
    assert found["read"] == right["read"]
    assert found["status"]["stepLines"] == 515 + 200
    assert found["status"]["interruptionCount"] == 1
    assert {query["container"] for query in server.asked} == {"main"}


def test_a_run_that_was_given_its_profile_on_the_server_is_read_and_its_process_seen(
    server: LogServer, agent: Agent, here: Acme
) -> None:
    job = Job(server, "llm-a", (now_ms() - 60_000) // 1_000 * 1_000)
    job.work(30)
    agent.begin()
    until(lambda: Worker.objects.filter(run__uid=job.uid).exists(), agent)
    assert server.asked == []
    agent.end()
    address = f"{os.environ['ASTRALYX_API']}/v1/runs/{job.uid}/measurement"
    headers = {"Authorization": f"Bearer {here.token('ingest')}"}
    assert httpx.put(address, headers=headers, json={"logProfileRef": "maxtext"}).status_code == 200
    agent.begin()
    until(lambda: lines_of(job.uid) == {1: 60}, agent)
    agent.end()
    last = Worker.objects.get(run__uid=job.uid)
    assert last.step == 29


def test_logs_that_may_not_be_read_stop_nothing_and_the_rule_is_said(
    server: LogServer, agent: Agent, here: Acme
) -> None:
    job = Job(server, "llm-a", (now_ms() - 60_000) // 1_000 * 1_000, **{"log-profile": "maxtext"})
    gone = Job(server, "llm-b", (now_ms() - 60_000) // 1_000 * 1_000, **{"log-profile": "maxtext"})
    server.troubles += ["403"] * 20
    agent.begin()
    server.wait_for_follower(2)
    server.change("pods", "DELETED", gone.pod())
    job.end()
    until(lambda: Run.objects.filter(uid=job.uid).exclude(ended_at=None).exists(), agent)
    until(lambda: Measurement.objects.filter(run__uid=job.uid, profile="maxtext").exists(), agent)
    agent.end()
    said = agent.log.read_text()
    assert said.count('Missing in a role: - {apiGroups: [""], resources: ["pods/log"], verbs: ["get"]}') == 1
    assert "Traceback" not in said
