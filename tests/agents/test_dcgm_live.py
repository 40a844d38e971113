"""`astra collect dcgm` as a process between a real exporter's page and a real server: what the ledger makes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from astra.collect.items import instant_text
from ledger import queries
from ledger.access import scope_of_organization
from ledger.categorizer import categorize
from ledger.core.categories import Category
from ledger.core.windows import HOUR, Window, floor_hour
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Organization, Token, Worker, Workspace
from ledger.replay import observations
from tests.agents.test_dcgm_source import serving

ROOT = Path(__file__).parents[2]
PAGES = ROOT.parent / "shared" / "data" / "dcgm"


class East:
    """A cluster where states have been told, and an agent that reads GPUs for it."""

    def __init__(self, api: str, folder: Path) -> None:
        self.api, self.folder = api, folder
        self.organization = Organization.objects.create(name="acme")
        Workspace.objects.create(organization=self.organization, name="vision")
        self.cluster = Cluster.objects.create(organization=self.organization, name="east")
        self.token = Token.issue(self.organization, None, ["ingest"])[1]
        self.began = datetime.now(UTC) - timedelta(minutes=3)

    def runs(self, *workers: dict[str, Any]) -> None:
        """Tell of workers that run since three minutes ago."""
        states = [{"run": "8c1f", "at": instant_text(self.began), "phase": "running", **one} for one in workers]
        body = {
            "source": "kubernetes/east", "sent_at": instant_text(datetime.now(UTC)), "workers": states,
            "runs": [{"uid": "8c1f", "workspace": "vision", "name": "llm"}],
        }  # fmt: skip
        assert ingest(self.cluster, decode(json.dumps(body).encode(), "application/json")).refused == []

    def agent(self, *options: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        environment |= {"PYTHONPATH": str(ROOT / "client"), "ASTRALYX_API": self.api, "ASTRALYX_TOKEN": self.token}
        command = [sys.executable, "-m", "astra", "collect", "dcgm", "--cluster", "east", "--once"]
        more = ["--spool", str(self.folder / "spool"), *options]
        return subprocess.run([*command, *more], env=environment, capture_output=True, text=True, timeout=90)

    def busy(self) -> dict[str, bool | None]:
        return dict(Worker.objects.values_list("name", "busy"))

    def spent(self) -> dict[Category, int]:
        categorize(self.cluster)
        start = floor_hour(int(self.began.timestamp() * 1000))
        total = queries.goodput(scope_of_organization(self.organization), Window(start, start + 2 * HOUR), "run").total
        return {category: amount for category, amount in zip(Category, total.amounts, strict=True) if amount}


@pytest.fixture
def east(transactional_db: None, live_server: LiveServer, tmp_path: Path) -> East:
    return East(live_server.url, tmp_path)


def test_a_cluster_that_there_is_not_is_named(east: East) -> None:
    said = east.agent("--exporter", "http://127.0.0.1:9", "--dry-run", "--cluster", "far/west")
    assert said.returncode == 1
    assert "has no cluster 'far/west' that this token may write to: check --cluster" in said.stderr


def published(name: str) -> str:
    return (PAGES / f"{name}.prom").read_text()


@pytest.mark.parametrize(
    ("page", "worker", "busy"),
    [
        ("dcgm_gpu_util_pod_labels", {"machine": "node-1", "gpus": 1, "pod": "foo/bar"}, False),
        ("dcgm_gpu_util_pod_labels", {"machine": "node-1", "gpus": 1, "pod": "foo/other"}, None),
        ("dcgm_mig_a100", {"machine": "gpu-host-1", "gpus": 0.142}, True),
        ("dcgm_pod_labels_empty", {"machine": "node-1", "gpus": 1, "pod": "foo/bar"}, None),
        ("dcgm_t4_no_pod_labels", {"machine": "424773df46e0", "gpus": 1}, False),
        ("dcgm_t4_no_pod_labels", {"machine": "551bdf382151", "gpus": 1}, None),
    ],
)
def test_what_the_published_pages_mean_to_the_ledger(
    east: East, page: str, worker: dict[str, Any], busy: bool | None
) -> None:
    east.runs({"worker": "w", **worker})
    with serving({"/metrics": published(page)}) as exporter:
        done = east.agent("--exporter", exporter)
    assert done.returncode == 0, done.stderr
    assert east.busy() == {"w": busy}


def test_cases_that_users_of_exporters_reported(east: East) -> None:
    """One card that several pods share, of which one has a metric; one that shows twice; 100 % that nobody holds."""
    east.runs(
        *({"worker": f"s{k}", "machine": "a", "gpus": 0.25, "pod": f"n/s{k}"} for k in range(4)),
        {"worker": "rebuilt", "machine": "b", "gpus": 1, "pod": "n/new"},
        {"worker": "blank", "machine": "d", "gpus": 1, "pod": "n/blank"},
    )
    lines = [
        ("a", "U0", "s1", "0"), ("b", "U1", "old", "0"), ("b", "U1", "mid", "0"), ("b", "U1", "new", "99"),
        ("c", "U2", "dead", "100"), ("d", "U3", "blank", "N/A"),
    ]  # fmt: skip
    page = "".join(
        f'DCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="{uuid}",Hostname="{host}",namespace="n",pod="{pod}"}} {value}\n'
        for host, uuid, pod, value in lines
    )
    with serving({"/metrics": page}) as exporter:
        assert east.agent("--exporter", exporter).returncode == 0
    assert east.busy() == {"s0": None, "s1": False, "s2": None, "s3": None, "rebuilt": True, "blank": None}
    spent = east.spent()
    assert set(spent) == {Category.PRODUCTIVE, Category.IDLE}  # the unknown ones count as productive, not as idle
    asked = sum(spent.values())
    seconds = asked / (3 * 1_000_000)  # three GPUs: four quarters, one that shows three times, one
    assert 180 <= seconds < 300


def test_what_it_would_send_can_be_posted_and_replayed(east: East) -> None:
    east.runs({"worker": "w", "machine": "m", "gpus": 1, "pod": "foo/bar"})
    with serving({"/metrics": published("dcgm_gpu_util_pod_labels")}) as exporter:
        done = east.agent("--exporter", exporter, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert east.busy() == {"w": None}
    (batch,) = observations.read(done.stdout.encode())
    assert (batch.source, [reading.busy_milli_percent for reading in batch.readings]) == ("dcgm/east", [0])
    receipt = ingest(east.cluster, decode(done.stdout.encode(), "application/x-ndjson"))
    assert (receipt.accepted, receipt.refused) == (1, [])
    assert east.busy() == {"w": False}


def test_why_it_cannot_is_one_clear_line(east: East) -> None:
    done = east.agent("--exporter", "http://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "No answer from the exporter http://127.0.0.1:1/metrics" in done.stderr
    done = east.agent("--exporter", "http://127.0.0.1:1", "--token", "goodput_wrong")
    assert (done.returncode, "does not know this token" in done.stderr) == (1, True)
