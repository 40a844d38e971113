"""Whether a run reached what it was to reach, at the head of its page and in the interface."""

import json
from typing import Any

import pytest

from dashboards.verdicts import verdicts
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.models import Run
from ledger.queries import RunRow
from ledger.writing.runs import run
from tests.dashboards.conftest import Get
from tests.dashboards.ledgers import ledger
from tests.dashboards.reading import text_of
from tests.dashboards.world import World

LLM = "/w/acme/vision/runs/uid-llm"


def row(world: World, **said: Any) -> RunRow:
    Run.objects.filter(uid="uid-llm").update(**said)
    scope = scope_of_workspace(world.vision)
    found = queries.find_run(scope, "uid-llm")
    assert found
    return queries.run_row(scope, found)


@pytest.mark.parametrize("verdict", ["pass", "fail", "no data"])
def test_the_verdict_stands_at_the_head_of_the_page(world: World, get: Get, verdict: str) -> None:
    assert 'id="verdicts"' not in get(LLM).content.decode()
    of = row(world, min_goodput_milli=855, verdict=verdict)
    assert run(of)["verdict"] == verdict
    page = get(LLM)
    share = page.context["run_total"]
    assert text_of(page, "verdicts").startswith(f"{verdict} goodput {100 * share.productive / share.allocated:.1f} %")
    assert text_of(page, "verdicts").endswith("at least 85.5 %")
    assert f'class="{verdict.replace(" ", "-")}"' in page.content.decode()


def test_it_is_pending_until_the_run_is_over_and_of_the_whole_run(world: World, get: Get) -> None:
    of = row(world, min_goodput_milli=800)
    assert json.loads(json.dumps(run(of)["verdict"])) is None
    assert "pending goodput" in text_of(get(LLM), "verdicts")
    told = text_of(get(LLM, range="24h"), "verdicts")
    assert told == "pending goodput at least 80.0 %; judged when the run is over"


@pytest.mark.parametrize(("least", "said"), [(850, "85.0 %"), (855, "85.5 %"), (1, "0.1 %"), (1000, "100.0 %")])
def test_the_least_is_said_as_exactly_as_it_is_compared(world: World, least: int, said: str) -> None:
    (found,) = verdicts(row(world, min_goodput_milli=least), ledger(productive=1), None)
    assert (found.value, found.expression) == ("100.0 %", f"at least {said}")


def test_each_threshold_has_its_verdict(world: World) -> None:
    log = {"thresholds": [
        {"figure": "goodputRatio", "expression": "value >= 0.85", "value": "0.956667", "outcome": "pass"},
        {"figure": "avgStepTimeSec", "expression": "value < 6", "value": None, "outcome": "no data"},
    ]}  # fmt: skip
    found = list(verdicts(row(world, min_goodput_milli=500, verdict="pass"), ledger(productive=3, idle=1), log))
    assert [(one.kind, one.figure, one.value) for one in found] == [
        ("pass", "goodput", "75.0 %"), ("pass", "goodputRatio by its log", "0.96"),
        ("no-data", "avgStepTimeSec by its log", ""),
    ]  # fmt: skip
    assert list(verdicts(row(world, min_goodput_milli=None), None, None)) == []
