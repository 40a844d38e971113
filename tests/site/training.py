"""A gang of four real processes that train and report to a real server, and what was said of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from goodput_site.embedded import Server
from goodput_site.places import CHECKOUT, places
from tests.site import training_loop
from tests.site.running import Running, manage
from tests.site.training_cells import HOUR_MS, Cells, Said, cells, ms, parts

NAMES = ("w0", "w1", "w2", "w3")
GPUS = 8
PACE, SLOW = 0.2, 0.5


class Gang:
    """Four workers of the run r1, each on a machine of its own: w1 takes longer for a step, w2 hangs.

    They report every so many seconds; without progress a worker is stalled after so many ms; w2 takes so many steps.
    """

    def __init__(self, site: Running, folder: Path, every: float, stall_after: int, hangs_after: int) -> None:
        self.site, self.folder, self.every, self.stall_after = site, folder, every, stall_after
        self.shared, self.hangs_after = folder / "shared", hangs_after
        self.said: dict[str, list[Said]] = {name: [] for name in NAMES}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for command in ("create_organization acme", "create_workspace acme vision", "create_cluster acme east"):
            done = manage(site.state, *command.split())
            assert done.returncode == 0, done.stderr
        self.run("UPDATE ledger_cluster SET stall_after_ms = %s", stall_after)
        issue = "create_token --organization acme --scopes ingest,read"
        self.token = manage(site.state, *issue.split()).stdout.strip()
        training_loop.make(self.shared)

    def run(self, statement: str, *values: Any) -> None:
        """Change something in the server's database."""
        server = Server(places({"GOODPUT_STATE": str(self.site.state)}))
        with psycopg.connect(server.conninfo()) as link:
            link.execute(statement, values)

    # --- what happens ---

    def start(self, name: str) -> None:
        number, pace, hangs = NAMES.index(name), SLOW if name == "w1" else PACE, self.hangs_after if name == "w2" else 0
        said = {"API": self.site.url, "TOKEN": self.token, "RUN": "r1", "WORKER": name, "SPOOL": str(self.folder)}
        env = {f"ASTRALYX_{key}": value for key, value in said.items()} | {"OPENBLAS_NUM_THREADS": "1"}
        env |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT / "client")}
        asked = (self.shared, number, pace, hangs, self.every, self.log(name))
        self.processes[name] = subprocess.Popen([sys.executable, training_loop.__file__, *map(str, asked)], env=env)

    def end(self, name: str, how: signal.Signals) -> None:
        self.processes[name].send_signal(how)
        self.processes[name].wait(60)

    def kill_all(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def tell(self, phase: str, *names: str, machine: str = "", **more: Any) -> None:
        """Say as a cluster's agent does that workers are in this phase from now on."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        states = []
        for name in names:
            where = machine or (self.said[name][-1].machine if self.said[name] else f"gpu-{name}")
            self.said[name].append(Said(ms(now), phase, where))
            placed = {"gpus": GPUS, "machine": where, "pool": "h100"} if phase in ("starting", "running") else {}
            states.append({"run": "r1", "worker": name, "at": now, "phase": phase, **placed, **more})
        run = {"uid": "r1", "name": "llm", "workspace": "vision"}
        receipt = self.ask("clusters/east/observations", source="agent", sent_at=now, runs=[run], workers=states)
        assert receipt["refused"] == []

    # --- what there is to see ---

    def ask(self, path: str, **body: Any) -> dict[str, Any]:
        asked = urllib.request.Request(
            f"{self.site.url}/v1/{path}", json.dumps(body).encode() if body else None,
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(asked, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def workers(self, state: str) -> dict[str, dict[str, Any]]:
        """The workers that are stalled, or stragglers, now."""
        return {one["worker"]: one for one in self.ask(f"workers?state={state}")["workers"]}

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def reports(self, name: str) -> list[dict[str, Any]]:
        """What a worker's processes wrote down; of one that was killed the last line may be torn."""
        lines = self.log(name).read_text().splitlines() if self.log(name).exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def steps(self, name: str) -> list[dict[str, Any]]:
        """Those of its reports that tell a step; before its first one a worker tells its pipeline alone."""
        return [report for report in self.reports(name) if "step" in report]

    def has_reported(self, *names: str, times: int = 6, after: int = 0) -> bool:
        """Tell whether these have each reported so often since an instant (ms)."""
        return all(sum(ms(one["at"]) > after for one in self.steps(name)) >= times for name in names)

    # --- what must be ---

    def pipelines(self) -> dict[str, dict[str, Any]]:
        """What each worker's input pipeline took, as the ledger has it, and its newest reports there."""
        return {one["worker"]: one for one in self.ask("runs/r1/pipeline")["workers"]}

    def expected(self) -> Cells:
        """Of what they wrote down only what has arrived: who is killed may have kept his last word to himself."""
        arrived = {name: ms(one["step_at"]) for name, one in self.pipelines().items()}
        lives = []
        for name in NAMES:
            known = [one for one in self.steps(name) if ms(one["at"]) <= arrived[name]]
            lives.append(list(parts(self.said[name], known, self.stall_after)))
        return cells(lives, GPUS * 1000)

    def counted(self) -> Cells:
        """The ledger's cells of every hour of the run, which is over."""
        first, last = (min(life[0].at for life in self.said.values()), max(life[-1].at for life in self.said.values()))
        found: Cells = {}
        for hour in range(first // HOUR_MS * HOUR_MS, last, HOUR_MS):
            window = {"start": iso(hour), "end": iso(hour + HOUR_MS), "by": "machine", "unit": "gpu_us"}
            for row in self.ask(f"goodput?{urllib.parse.urlencode(window)}")["rows"]:
                found[hour, row["name"]] = {name: int(of) for name, of in row["gpu_hours"].items() if int(of)}
        return found


def iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat()


def until(true: Callable[[], bool], seconds: float, often: float = 0.5) -> None:
    """Wait; asking costs the server something, so not as often as others do."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(often)
