"""Ledgers by ISO week: each as if asked for by itself, all of them together the whole."""

from typing import Any

import pytest

from ledger.api.reading import WEEKS, WEEKS_MAX
from ledger.core.windows import WEEK, floor_week
from ledger.decode.values import instant
from tests.api.conftest import Api
from tests.api.history import History
from tests.api.test_observations import problem

ENVELOPE = ["start", "end", "by", "counted_until", "complete", "weeks", "total"]
WEEK_KEYS = ["start", "end", "partial", "rows", "total", "count"]
PLAIN = ("allocated_gpu_hours", "productive_gpu_hours", "lost_gpu_hours", "waiting_gpu_hours", "unobserved_gpu_hours")


def weekly(api: Api, token: str, **query: Any) -> dict[str, Any]:
    response = api.get("goodput/weekly", token, **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_the_form_of_an_answer(api: Api, history: History) -> None:
    answer = weekly(api, history.reader, by="run")
    assert [key for key in answer if key != "revised_at"] == ENVELOPE
    assert len(answer["weeks"]) == WEEKS
    assert [list(week) for week in answer["weeks"]] == [WEEK_KEYS] * WEEKS
    assert answer["by"] == "run"
    assert {"name", "uid", "workspace", "gpu_hours"} <= set(answer["weeks"][-2]["rows"][0])


def test_weeks_begin_on_mondays_and_the_last_one_goes_on(api: Api, history: History) -> None:
    answer = weekly(api, history.reader, weeks=3)
    starts = [instant(week["start"]) for week in answer["weeks"]]
    assert starts == [floor_week(history.now) + n * WEEK for n in (-2, -1, 0)]
    ends = [instant(week["end"]) for week in answer["weeks"]]
    assert ends[:-1] == starts[1:]
    assert [week["partial"] for week in answer["weeks"]] == [False, False, True]
    assert (answer["start"], answer["end"]) == (answer["weeks"][0]["start"], answer["weeks"][-1]["end"])
    assert instant(answer["counted_until"]) < ends[-1] <= instant(answer["counted_until"]) + 3_600_000


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
def test_each_week_is_as_if_asked_for_alone(api: Api, history: History, by: str) -> None:
    answer = weekly(api, history.reader, by=by, weeks=4, unit="gpu_us", sort="name")
    for week in answer["weeks"][:-1]:
        alone = api.get(
            "goodput", history.reader, by=by, start=week["start"], end=week["end"], unit="gpu_us", sort="name"
        ).json()
        assert week["rows"] == alone["rows"]
        assert week["total"] == alone["total"]
        assert week["count"] == len(alone["rows"])
    for figure in PLAIN:
        assert sum(int(week["total"][figure]) for week in answer["weeks"]) == int(answer["total"][figure])
    assert int(answer["total"]["productive_gpu_hours"]) > 0


def test_the_limit_is_of_each_week_and_totals_are_of_all_rows(api: Api, history: History) -> None:
    whole = weekly(api, history.reader, by="run", weeks=3, unit="gpu_us")
    page = weekly(api, history.reader, by="run", weeks=3, unit="gpu_us", limit=1)
    assert [len(week["rows"]) for week in page["weeks"]] == [1, 1, 1]
    for some, every in zip(page["weeks"][:-1], whole["weeks"][:-1], strict=True):
        assert some["rows"] == every["rows"][:1]
        assert (some["total"], some["count"]) == (every["total"], every["count"])
        assert every["count"] == len(every["rows"]) > 1


def test_filters_are_of_every_week(api: Api, history: History) -> None:
    answer = weekly(api, history.reader, by="run", run="uid-llm", weeks=2)
    assert {row["name"] for week in answer["weeks"] for row in week["rows"]} == {"llm"}
    assert weekly(api, history.reader, workspace="nothing")["weeks"][0]["rows"] == []


def test_a_week_without_anything_is_there(api: Api) -> None:
    answer = weekly(api, api.token("read"), weeks=WEEKS_MAX)
    assert len(answer["weeks"]) == WEEKS_MAX
    assert all(week["rows"] == [] and week["count"] == 0 for week in answer["weeks"])
    assert "goodput" not in answer["total"]


@pytest.mark.parametrize(
    "query",
    [
        {"weeks": 0},
        {"weeks": WEEKS_MAX + 1},
        {"days": 7},
        {"start": "2026-01-02T03:00:00Z"},
        {"offset": 1},
        {"by": "x"},
    ],
)
def test_questions_that_cannot_be_answered(api: Api, query: dict[str, Any]) -> None:
    problem(api.get("goodput/weekly", api.token("read"), **query), 400)
