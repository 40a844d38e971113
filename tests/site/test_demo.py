"""One running demo: what the README's commands answer there, as real processes, and Prometheus that scrapes it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from goodput_site.places import CHECKOUT
from ledger.management import demo as demo_file
from tests.metrics.prom import prometheus
from tests.site.running import Running, environment, eventually, free_port

COLUMNS = "HELD USED GOODPUT IDLE STALLED START RESTART FAILURE PREEMPT WAITING"
FOOTNOTE = "USED = productive (running, GPUs busy); GOODPUT = used / held; WAITING = asked for, not yet held"


class Demo:
    """The running demo and its login."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.told: dict[str, Any] = dict(demo_file.read(state / "demo.json"))

    def astra(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command with what the demo printed, and nothing else."""
        said = {"ASTRALYX_API": self.told["url"], "ASTRALYX_TOKEN": self.told["token"], "PYTHONIOENCODING": "utf-8"}
        env = environment(self.state, PYTHONPATH=str(CHECKOUT / "client"), **said)
        command = [sys.executable, "-m", "astra", "astraeus", "goodput", *arguments]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)

    def table(self, *arguments: str) -> str:
        done = self.astra(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def ask(self, path: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.told['token']}"}
        asked = urllib.request.Request(f"{self.told['url'].rstrip('/')}/v1/{path}", headers=headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@pytest.fixture(scope="module")
def demo(folders: Path) -> Iterator[Demo]:
    with Running(folders / "state", free_port(), {"DEMO": "1"}) as running:
        eventually(running.is_well, 600)
        yield Demo(folders / "state")


def heads(text: str) -> list[list[str]]:
    """The lines that head a table, as words."""
    return [line.split() for line in text.splitlines() if " HELD " in line]


def totals(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith("TOTAL ")]


def test_runs_of_seven_days(demo: Demo) -> None:
    text = demo.table("--by", "run", "--days", "7")
    assert "GPU-hours" in text.splitlines()[0]
    assert heads(text) == [["RUN", *COLUMNS.split()]]
    assert len(totals(text)) == 1
    assert text.splitlines().count(FOOTNOTE) == 1
    held, used = (float(figure.replace(",", "")) for figure in totals(text)[0][1:3])
    assert held > used > 0


def test_pools_of_eight_weeks(demo: Demo) -> None:
    text = demo.table("--weeks", "8", "--by", "pool")
    assert heads(text) == [["POOL", *COLUMNS.split()]] * 9, "eight weeks and their sum"
    assert text.count(", still running") == 1
    assert FOOTNOTE in text
    assert all(name in text for name in ("\nh100 ", "\na100 ", "\nl40s "))


def test_a_run_by_its_name(demo: Demo) -> None:
    text = demo.table("--run", "llm")
    assert heads(text) == [["RUN", *COLUMNS.split()]]
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["llm", "TOTAL"]
    newest = demo.ask("runs/llm")
    assert newest["name"] == "llm"
    refused = demo.astra("--run", "llm-of-nobody")
    assert (refused.returncode, refused.stdout) == (1, "")


@pytest.mark.parametrize("by", ["run", "pool", "machine"])
def test_json_has_the_integers_of_the_interface(demo: Demo, by: str) -> None:
    end = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    start = end - timedelta(days=5)
    hours = [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in (start, end)]
    options = ("--start", hours[0], "--end", hours[1], "--json", "--unit", "gpu_us", "--all")
    told = json.loads(demo.table("--by", by, *options))
    asked = demo.ask(f"goodput?by={by}&start={hours[0]}&end={hours[1]}&unit=gpu_us&limit=1000")
    assert asked["rows"]
    for answer in (told, asked):
        del answer["counted_until"]
    assert told == asked
    total = asked["total"]["gpu_hours"]
    assert {key: sum(int(row["gpu_hours"][key]) for row in asked["rows"]) for key in total} == {
        key: int(amount) for key, amount in total.items()
    }


def test_prometheus_scrapes_it_with_a_metrics_token(demo: Demo, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(demo.told["token"])
    host = demo.told["url"].split("//")[1].split("/")[0]
    config = tmp_path / "prometheus.yml"
    config.write_text(json.dumps({
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{
            "job_name": "goodput", "metrics_path": "/v1/goodput/metrics",
            "authorization": {"credentials_file": str(tmp_path / "token")},
            "static_configs": [{"targets": [host]}],
        }],
        "rule_files": [],
    }))  # fmt: skip
    with prometheus(config, tmp_path / "data") as prom:
        found = prom.wait_for('astraeus_goodput_ratio{scope="pool", window="day"}')
        told = {sample["metric"]["name"]: float(sample["value"][1]) for sample in found}
        assert told.keys() <= {"h100", "a100", "l40s"}
        assert all(0 < ratio <= 1 for ratio in told.values())
        assert prom.ask("count(astraeus_run_goodput_gpu_hours)")
        names = [one["metric"]["__name__"] for one in prom.ask('count by (__name__) ({__name__=~"astraeus.*"})')]
        assert len(names) > 4
        assert [name for name in names if prom.ask(f"{name} != {name}")] == [], "nothing is NaN"
