"""What happens on the real Slurm while the real agent watches: every way in which a job can end, in two minutes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from goodput_site.processes import wait_until
from tests.site.running import Running, environment, manage
from tests.slurm.alpha import Alpha, wait_for_second

HOUR = 3600


@dataclass
class Seen:
    """What Slurm's accounting and the ledger say afterwards. Seconds and instants in seconds.

    `jobs`: numbers by name. `records`: of sacct by number. `used`: sreport's GPU-seconds by account and user.
    `runs`: as the API gives them, `timelines` by uid. `window`: the local hour that is over.
    """

    jobs: dict[str, str] = field(default_factory=dict)
    records: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    used: dict[tuple[str, str], int] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    timelines: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    window: tuple[int, int] = (0, 0)
    checked: str = ""

    def run(self, name: str) -> dict[str, Any]:
        return next(run for run in self.runs if run["uid"].startswith(self.jobs[name] + "-"))

    def lanes(self, name: str) -> list[dict[str, Any]]:
        return self.timelines[self.run(name)["uid"]]

    def amount(self, name: str, category: str, *, held: bool) -> float:
        """Return the GPU-seconds of a job in a category."""
        return sum(
            seconds(each) for lane in self.lanes(name) for each in lane["segments"]
            if each["category"] == category and each["held"] is held
        )  # fmt: skip


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def seconds(segment: dict[str, Any], window: tuple[float, float] = (0, 1e12)) -> float:
    """Return the GPU-seconds of a segment of a timeline, of its part in a window."""
    begin, end = max(instant(segment["from"]), window[0]), min(instant(segment["to"]), window[1])
    return round(segment["gpus"] * max(0.0, end - begin), 3)


class Ledger:
    """A server of its own and the agent that tells it of a Slurm, both as processes."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.agent: subprocess.Popen[bytes] | None = None
        state = running.state
        manage(state, "create_organization", "acme")
        manage(state, "create_cluster", "acme", "alpha", "--readings", "none")
        scopes = ("--scopes", "read,ingest,admin")
        self.token = manage(state, "create_token", "--organization", "acme", *scopes).stdout.strip()
        assert self.token, running.output()

    def start_agent(self, alpha: Alpha) -> None:
        command = [sys.executable, "-m", "astra", "collect", "slurm", "--cluster", "alpha", "--interval", "1"]
        told = {"ASTRALYX_API": self.running.url, "ASTRALYX_TOKEN": self.token, **alpha.environment}
        env = environment(self.running.state) | told | {"ASTRALYX_SPOOL": str(alpha.root / "spool-agent")}
        env["PATH"] = f"{alpha.environment['PATH']}:{os.environ['PATH']}"
        with (alpha.root / "log/agent.out").open("ab") as out:
            self.agent = subprocess.Popen(
                [*command, "--accounts-interval", "5"], env=env, stdout=out, stderr=out, start_new_session=True
            )

    def kill_agent(self) -> None:
        if self.agent is not None:
            self.agent.kill()
            self.agent.wait()

    def stop_agent(self) -> int:
        assert self.agent is not None
        self.agent.send_signal(signal.SIGTERM)
        return self.agent.wait(90)

    def ask(self, path: str) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.running.url}/v1/{path}", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("runs?limit=1000")["runs"]
        return found


def play(alpha: Alpha, ledger: Ledger) -> Seen:
    """Let it all happen, and return what is said of it afterwards."""
    seen = Seen(window=(alpha.hour_ends - HOUR, alpha.hour_ends))
    ledger.start_agent(alpha)
    begin(alpha, seen.jobs)
    requeue_and_suspend(alpha, seen.jobs)
    preempt(alpha, seen.jobs)
    ledger.kill_agent()
    ledger.start_agent(alpha)
    lose_a_node(alpha, seen.jobs)
    cross_the_hour(alpha, seen.jobs)
    afterwards(alpha, ledger, seen)
    return seen


def begin(alpha: Alpha, jobs: dict[str, str]) -> None:
    h100 = ("-p", "h100", "-t", "5", "--gres=gpu:h100:1")
    jobs["timeout"] = alpha.submit("timeout", "sleep 300", *h100[:2], "-t", "1", h100[4])
    jobs["complete"] = alpha.submit("complete", "srun sleep 4", "-N2", "--ntasks-per-node=1", "--gres=gpu:a100:2")
    jobs["fail"] = alpha.submit("fail", "sleep 2; exit 3", *h100, account="lab2")
    jobs["never"] = alpha.submit(
        "never", "sleep 1", *h100, "-d", f"afterok:{jobs['fail']}", "--kill-on-invalid-dep=yes", account="lab2"
    )
    jobs["cancel"] = alpha.submit("cancel", "sleep 300", *h100, user="daemon", account="lab2")
    jobs["array"] = alpha.submit(
        "array", "srun sleep 3", "-w", "node1", "--gres=gpu:a100:1", "-a", "0-1", user="daemon"
    )
    jobs["suspend"] = alpha.submit("suspend", "sleep 10", "-w", "node1", "--gres=gpu:1")
    jobs["again"] = alpha.submit(
        "again", "srun sleep 10", "-w", "node2", "--gres=gpu:a100:3", "--requeue", user="daemon"
    )
    jobs["cpu"] = alpha.submit("cpu", "sleep 1", "-w", "node2")


def requeue_and_suspend(alpha: Alpha, jobs: dict[str, str]) -> None:
    alpha.await_state(jobs["suspend"], "RUNNING/None")
    alpha.await_state(jobs["again"], "RUNNING/None")
    alpha.do("scontrol", "requeue", jobs["again"])
    alpha.do("scontrol", "suspend", jobs["suspend"])  # it has no step: one that is just launched would stay hung
    alpha.await_state(jobs["cancel"], "RUNNING/None")
    alpha.do("scancel", jobs["cancel"])
    alpha.await_state(jobs["fail"], "FAILED")
    alpha.await_state(jobs["never"], "CANCELLED")
    time.sleep(3)  # that the pause has a length
    alpha.do("scontrol", "resume", jobs["suspend"])


def preempt(alpha: Alpha, jobs: dict[str, str]) -> None:
    spot = ("-p", "spot", "-w", "node1", "--gres=gpu:a100:8", "--requeue")
    jobs["scav"] = alpha.submit(
        "scav", 'trap "" TERM; sleep 300', "-p", "scavenge", "--gres=gpu:h100:2", user="daemon", account="lab2"
    )
    jobs["victim"] = alpha.submit("victim", "srun sleep 10", *spot, account="lab2")
    alpha.await_state(jobs["scav"], "RUNNING/None")
    jobs["bench"] = alpha.submit("bench", "srun sleep 2", "-p", "h100", "--gres=gpu:h100:3")
    alpha.await_state(jobs["victim"], "RUNNING/None")
    jobs["urgent"] = alpha.submit("urgent", "srun sleep 3", "-w", "node1", "--gres=gpu:a100:8")
    alpha.await_state(jobs["again"], "COMPLETED")


def lose_a_node(alpha: Alpha, jobs: dict[str, str]) -> None:
    jobs["doomed"] = alpha.submit("doomed", "srun sleep 300", "-w", "node2", "--gres=gpu:a100:4", "--no-requeue")
    alpha.await_state(jobs["doomed"], "RUNNING/None")
    alpha.kill_node("node2")
    alpha.await_state(jobs["doomed"], "NODE_FAIL", seconds=60)
    alpha.start_node("node2")


def cross_the_hour(alpha: Alpha, jobs: dict[str, str]) -> None:
    alpha.await_state(jobs["victim"], "COMPLETED")
    jobs["crossing"] = alpha.submit("crossing", "srun sleep 300", "-w", "node1", "--gres=gpu:a100:5", user="daemon")
    alpha.await_state(jobs["crossing"], "RUNNING/None")
    alpha.await_state(jobs["bench"], "COMPLETED")
    alpha.await_state(jobs["timeout"], "TIMEOUT", seconds=100)
    wait_for_second(alpha.hour_ends + 2)
    alpha.do("scancel", jobs["crossing"])
    alpha.await_state(jobs["crossing"], "CANCELLED")


def afterwards(alpha: Alpha, ledger: Ledger, seen: Seen) -> None:
    counted = {job for name, job in seen.jobs.items() if name not in ("cpu", "never", "array")}

    def is_told() -> bool:
        over = {run["uid"].partition("-")[0] for run in ledger.runs() if run.get("ended_at")}
        return counted <= over

    assert wait_until(is_told, 120, 0.5), f"{counted}, {ledger.runs()}"
    assert wait_until(lambda: bool(_used(alpha, seen)), 60, 1), "sreport has not summed up the hour"
    seen.used = _used(alpha, seen)
    time.sleep(6)  # another question to sacct
    assert ledger.stop_agent() == 0, alpha.logs()
    for row in _rows(alpha.do("sacct", "-D", "-X", "-P", "-a", "-o", "ALL", TZ="UTC")):
        seen.records.setdefault(row["JobID"], []).append(row)
    seen.runs = ledger.runs()
    for run in seen.runs:
        seen.timelines[run["uid"]] = ledger.ask(f"runs/{run['uid']}/timeline")["workers"]
    seen.checked = manage(ledger.running.state, "check_ledger").stdout


def _used(alpha: Alpha, seen: Seen) -> dict[tuple[str, str], int]:
    local = [alpha.do("date", "-d", f"@{at}", "+%Y-%m-%dT%H:%M:%S").strip() for at in seen.window]
    report = ("cluster", "AccountUtilizationByUser", f"start={local[0]}", f"end={local[1]}")
    told = alpha.do("sreport", "-n", "-P", "-t", "Seconds", "-T", "gres/gpu", *report)
    rows = [line.split("|") for line in told.splitlines()]
    return {(row[1], row[2]): int(row[5]) for row in rows if len(row) > 5 and row[2]}


def _rows(told: str) -> list[dict[str, str]]:
    first, *lines = told.splitlines()
    names = first.split("|")
    return [dict(zip(names, line.split("|"), strict=True)) for line in lines]


def folder_for(path: Path) -> Path:
    """Return a folder that Slurm's users may read."""
    path.chmod(0o755)
    return path


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
