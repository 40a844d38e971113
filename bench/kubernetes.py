"""What the Kubernetes agent costs beside a large cluster: `python -m bench.kubernetes [--pods 5000 --seconds 60]`.

A scripted API server holds pods in gangs of four on machines of eight GPUs and changes so many a second; the agent is
the real command in a process of its own. Prints its resident memory, its CPU time for the first lists, and its CPU
time while things change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from typing import Any

from tests.client.kubernetes.apiserver import ApiServer
from tests.client.kubernetes.building import condition, job, node, owned, pod
from tests.client.kubernetes.recordings import KINDS

GANG = 4
TICKS = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).parents[1]


@dataclass
class Figures:
    """Seconds of CPU and MiB of memory."""

    first_seconds: float
    first_cpu: float
    cpu_percent: float
    resident_mib: float
    changes: int
    states: int

    def lines(self) -> list[str]:
        return [
            f"first complete list after {self.first_seconds:.1f} s, {self.first_cpu:.1f} s of CPU",
            f"{self.changes} changes, {self.states} states said, {self.cpu_percent:.0f} % of a core",
            f"resident memory at most {self.resident_mib:.0f} MiB",
        ]


def padded(of: dict[str, Any]) -> dict[str, Any]:
    """Give a pod as much beside the point as a real one has: some 6 KB."""
    main = of["spec"]["containers"][0]
    main["env"] = [{"name": f"SETTING_{n}", "value": "x" * 60} for n in range(40)]
    of["metadata"]["managedFields"] = [{"manager": "kubelet", "fieldsV1": {f"f:{n}": {} for n in range(100)}}]
    return of


def fill(server: ApiServer, pods: int, machines: int) -> list[tuple[dict[str, Any], int, str]]:
    """Make the cluster and return its pods as (job, index, machine)."""
    server.load("nodes", [node(f"gpu-{n}") for n in range(machines)])
    jobs = [job(f"run-{n}", worker=GANG) for n in range(pods // GANG)]
    server.load("pytorchjobs.kubeflow.org", jobs)
    places = [(of, index, f"gpu-{(n * GANG + index) % machines}") for n, of in enumerate(jobs) for index in range(GANG)]
    server.load("pods", [replica(*place, restarts=0) for place in places])
    return places


def replica(of: dict[str, Any], index: int, machine: str, restarts: int, clock: str = "12:00:05") -> dict[str, Any]:
    name = f"{of['metadata']['name']}-worker-{index}"
    return padded(pod(name, node=machine, runs=clock, restarts=restarts, **owned(of, "worker", index)))


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid: int, key: str = "VmHWM") -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def begin(server: ApiServer, folder: Path) -> subprocess.Popen[str]:
    said = {
        "current-context": "east",
        "contexts": [{"name": "east", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
    }
    (folder / "config").write_text(json.dumps(said))
    command = [sys.executable, "-m", "astra", "collect", "kubernetes", "--cluster", "east", "--dry-run"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "KUBECONFIG": str(folder / "config")}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, bufsize=1)


def measure(pods: int = 5_000, machines: int = 1_000, rate: int = 50, seconds: float = 60.0) -> Figures:
    """Run the agent beside a cluster of this size and return what it cost."""
    with tempfile.TemporaryDirectory() as folder, ApiServer(list(KINDS), page=500) as server:
        places = fill(server, pods, machines)
        began = time.monotonic()
        agent = begin(server, Path(folder))
        said, whole = [0], threading.Event()
        reader = threading.Thread(target=_read, args=(agent, said, whole), daemon=True)
        reader.start()
        try:
            if not whole.wait(300):
                raise RuntimeError("no complete list within five minutes")
            first, first_cpu, before = time.monotonic() - began, cpu(agent.pid), said[0]
            changes, spent = _change(server, places, rate, seconds, agent.pid)
            time.sleep(1.0)
            return Figures(first, first_cpu, 100 * spent / seconds, resident(agent.pid), changes, said[0] - before)
        finally:
            agent.terminate()
            agent.wait(30)
            reader.join(5)
            if agent.stdout is not None:
                agent.stdout.close()


def _change(server: ApiServer, places: list[Any], rate: int, seconds: float, pid: int) -> tuple[int, float]:
    """Restart containers, so many a second; return how many and the agent's CPU seconds meanwhile."""
    before, began, done = cpu(pid), time.monotonic(), 0
    for number, place in zip(count(), cycle(places[:: GANG + 1]), strict=False):
        due = began + number / rate
        if due - began >= seconds:
            break
        time.sleep(max(due - time.monotonic(), 0))
        clock = f"12:{number // 60 % 60:02d}:{number % 60:02d}"
        of = replica(*place, restarts=1 + number // len(places), clock=clock)
        of["status"]["conditions"].append(condition("Ready", clock))
        server.change("pods", "MODIFIED", of)
        done += 1
    return done, cpu(pid) - before


def _read(agent: subprocess.Popen[str], said: list[int], whole: threading.Event) -> None:
    assert agent.stdout is not None
    for line in agent.stdout:
        said[0] += '"list":"workers"' in line
        if '"complete":true' in line:
            whole.set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=5_000)
    parser.add_argument("--machines", type=int, default=1_000)
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    print(f"{asked.pods} pods on {asked.machines} machines, {asked.rate} changes a second for {asked.seconds:.0f} s")
    for line in measure(asked.pods, asked.machines, asked.rate, asked.seconds).lines():
        print(line)


if __name__ == "__main__":
    main()
