"""Every limit stands in the documentation with the value that is in force; the other tests here try each of them."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings

from ledger import queries
from ledger.batches import Batch
from ledger.core.categories import Phase
from ledger.ingest import AHEAD_MAX, BadBatch, ingest
from tests.api.conftest import Api, Tenants, instant
from tests.api.test_observations import RUN, batch, problem
from tests.api.test_observations import state as state_of
from tests.dashboards.world import run, state

ROWS = [
    line.split("|")[1:-1]
    for line in (Path(__file__).parents[2] / "docs/limits.md").read_text().splitlines()
    if line.count("|") == 5 and "`ledger." in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_a_limit_is_as_documented(row: list[str]) -> None:
    first, *more = re.findall(r"`([\w.]+)`", row[3])
    module = first.rpartition(".")[0]
    for name in (first.rpartition(".")[2], *more):
        assert f"{getattr(import_module(module), name):,}".replace("2,000", "2000").replace("2,100", "2100") in row[1]


def test_there_are_rows_to_try() -> None:
    assert len(ROWS) > 10


SETTINGS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (Path(__file__).parents[2] / "docs/limits.md").read_text().splitlines()
    if line.count("|") == 6 and "`ledger." in line
]


def test_a_limit_with_a_setting_is_as_documented() -> None:
    assert [row[0] for row in SETTINGS] == ["`METRICS_NAMES_MAX`"]
    for setting, _, default, _, name in SETTINGS:
        module, _, constant = name.strip("`").rpartition(".")
        value = getattr(import_module(module), constant)
        assert f"{value:,}" == default
        assert getattr(settings, setting.strip("`")) == value


def test_two_minutes_ahead_and_a_millisecond_more(tenants: Tenants) -> None:
    now = queries.now()
    for ahead, errors in ((AHEAD_MAX, []), (AHEAD_MAX + 1, ["future"])):
        told = Batch("test", now)
        run(told, "llm", "ana", now)
        state(told, "llm", "worker-0", now + ahead, Phase.RUNNING, gpus_milli=1000)
        assert [refusal.error for refusal in ingest(tenants.east, told, now=now).refused] == errors
    assert ingest(tenants.east, Batch("test", now + AHEAD_MAX), now=now).refused == []
    with pytest.raises(BadBatch):
        ingest(tenants.east, Batch("test", now + AHEAD_MAX + 1), now=now)


def test_what_is_ahead_through_the_interface(api: Api) -> None:
    token = api.token("ingest")
    refused = api.post(batch(runs=[RUN], workers=[state_of(-600, phase="running", gpus=1)]), token).json()["refused"]
    assert [(item["list"], item["error"]) for item in refused] == [("workers", "future")]
    problem(api.post(batch(sent_at=instant(-600)), token), 400)


def test_segments_at_the_limit_and_one_more(api: Api, tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    now = queries.now()
    told = Batch("test", now)
    run(told, "llm", "ana", now)
    for number, phase in enumerate((Phase.PENDING, Phase.STARTING, Phase.FAILED, Phase.PENDING, Phase.FAILED)):
        at = now - (5 - number) * 60_000
        state(told, "llm", f"worker-{number % 2}", at, phase, gpus_milli=1000)
    ingest(tenants.east, told, now=now)
    segments = sum(len(lane["segments"]) for lane in api.get("runs/llm/timeline", api.token("read")).json()["workers"])
    assert segments >= 4
    monkeypatch.setattr("ledger.api.runs.SEGMENTS_MAX", segments)
    assert api.get("runs/llm/timeline", api.token("read")).status_code == 200
    monkeypatch.setattr("ledger.api.runs.SEGMENTS_MAX", segments - 1)
    assert "segments" in problem(api.get("runs/llm/timeline", api.token("read")), 400)
