"""The interface of logs, as the tests of it use it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from ledger import queries
from ledger.batches import Batch
from ledger.core.categories import Phase
from ledger.ingest import ingest
from ledger.models import Measurement, Run
from tests.api.conftest import Api
from tests.dashboards.world import run, state

PLAIN = {
    "kind": "LogProfile",
    "metadata": {"name": "plain"},
    "spec": {
        "timestamp": {"layout": "RFC3339"},
        "patterns": {
            "applicationStart": {"regex": "^start$"},
            "trainingStep": {"regex": r"^step (?P<globalStep>\d+)"},
            "checkpointDone": {"regex": r"^done (?P<step>\d+)"},
        },
    },
}
AS_YAML = """
kind: LogProfile
metadata: {name: plain}
spec:
  timestamp: {layout: RFC3339}
  patterns:
    trainingStep: {regex: '^step (?P<globalStep>\\d+)', example: step 5}
"""


class Logs:
    """The interface of logs, with a token that may do all."""

    def __init__(self, api: Api) -> None:
        self.api, self.client = api, Client()
        self.token = api.token("read", "ingest", "admin")

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json", token: str = "") -> Any:
        data = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return self.client.generic(method, f"/v1/{path}", data, content_type=kind, headers=headers)

    def send(self, lines: list[str], run: str = "llm", **more: Any) -> Any:
        return self.ask("POST", f"runs/{run}/logs", {"lines": lines, **more})

    def status(self, run: str = "llm") -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"runs/{run}/measurement").json()["status"]
        return found


@pytest.fixture
def logs(api: Api) -> Logs:
    now = queries.now()
    told = Batch("test", now)
    run(told, "llm", "ana", now - 3_600_000)
    state(told, "llm", "worker-0", now - 3_600_000, Phase.RUNNING, gpus_milli=8000, machine="gpu-1")
    assert ingest(api.tenants.east, told).refused == []
    return Logs(api)


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def end(api: Api, seconds_ago: float, outcome: str = "Succeeded") -> None:
    ended = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    Run.objects.filter(cluster=api.tenants.east).update(ended_at=ended, outcome=outcome)
    Measurement.objects.update(created_at=ended - timedelta(hours=1))
