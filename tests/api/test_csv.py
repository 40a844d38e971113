"""Tables: the rows of JSON in the same digits, RFC 4180, and nothing that a spreadsheet would run."""

import csv
import io
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.models import Run
from ledger.writing.figures import FORMULA_STARTS, harmless, table
from tests.api.conftest import Api
from tests.api.history import FORMULA, History

NAMES = ("name", "uid", "workspace", "pool", "start", "end", "biggest_loss")


def lines_of(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert response["Cache-Control"] == "no-store"
    assert response["Content-Disposition"].startswith("attachment; filename=")
    text = response.content.decode()
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def flat(row: dict[str, Any]) -> dict[str, str]:
    """A row of JSON by column; a figure in its digits."""
    cells = {}
    for key, value in row.items():
        if isinstance(value, dict):
            cells |= {f"{key}.{inner}": figure for inner, figure in value.items()}
        else:
            cells[key] = harmless(value) if key in NAMES and value else value or ""
    return cells


def digits(response: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(response.content, parse_float=str, parse_int=str)
    return answer


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
@pytest.mark.parametrize("unit", ["gpu_hours", "gpu_us"])
def test_rows_are_those_of_json_in_the_same_digits(api: Api, history: History, by: str, unit: str) -> None:
    ask = {"by": by, "unit": unit, "sort": "name", **history.closed()}
    told = digits(api.get("goodput", history.reader, **ask))
    lines = lines_of(api.get("goodput", history.reader, format="csv", **ask))
    window = {"start": told["start"], "end": told["end"]}
    assert len(lines) > 1
    assert lines == [{"goodput": "", **flat(row), **window} for row in told["rows"]]


def test_a_run_a_cluster_and_weeks(api: Api, history: History) -> None:
    closed = {"unit": "gpu_us", **history.closed()}
    (line,) = lines_of(api.get("runs/llm/goodput", history.reader, format="csv", **closed))
    assert flat(digits(api.get("runs/llm/goodput", history.reader, **closed))["rows"][0]).items() <= line.items()
    path = "organizations/acme/clusters/east/goodput"
    whole = lines_of(api.get(path, history.admin, format="csv", **closed))
    assert [line["name"] for line in whole] == ["vision", "speech"]
    for where, token in (("goodput/weekly", history.reader), (f"{path}/weekly", history.admin)):
        told = digits(api.get(where, token, unit="gpu_us", by="pool", weeks=3))["weeks"][:-1]
        lines = lines_of(api.get(where, token, unit="gpu_us", by="pool", weeks=3, format="csv"))
        expected = [
            (week["start"], week["end"], row["name"], row["lost_gpu_hours"]) for week in told for row in week["rows"]
        ]
        got = [(line["start"], line["end"], line["name"], line["lost_gpu_hours"]) for line in lines]
        assert got[: len(expected)] == expected


def test_runs_as_a_table(api: Api, history: History) -> None:
    Run.objects.filter(uid="uid-llm").update(min_goodput_milli=850, outcome="-1")
    told = digits(api.get("runs", history.reader))["runs"]
    lines = lines_of(api.get("runs", history.reader, format="csv"))
    assert [line["uid"] for line in lines] == [row["uid"] for row in told]
    llm = next(line for line in lines if line["uid"] == "uid-llm")
    assert (llm["min_goodput"], llm["stalled"], llm["held_gpus"], llm["outcome"]) == ("0.85", "true", "16", "'-1")
    assert (llm["ended_at"], llm["state"]) == ("", "going")


@pytest.mark.parametrize(("path", "rows"), [("goodput", "rows"), ("runs", "runs")])
def test_the_next_page_is_in_a_header(api: Api, history: History, path: str, rows: str) -> None:
    ask = {"by": "run", **history.closed()} if path == "goodput" else {}
    seen, address = [], f"/v1/{path}?{urlencode({**ask, 'format': 'csv', 'limit': 7})}"
    while address:
        response = api.client.get(address, headers={"Authorization": f"Bearer {history.reader}"})
        seen += [line["uid"] for line in lines_of(response)]
        link = response.get("Link", "")
        assert not link or link.endswith('>; rel="next"')
        address = link.partition("<")[2].partition(">")[0]
    assert seen == [row["uid"] for row in api.get(path, history.reader, **ask).json()[rows]]


def test_names_that_are_formulas(api: Api, history: History) -> None:
    lines = lines_of(api.get("goodput", history.reader, by="run", format="csv", **history.closed()))
    assert f"'{FORMULA}" in {line["name"] for line in lines}
    users = {
        line["name"]
        for line in lines_of(api.get("goodput", history.reader, by="user", format="csv", **history.closed()))
    }
    assert "'+cmd" in users
    raw = api.get("goodput", history.reader, by="run", format="csv", **history.closed()).content.decode()
    assert '"\'=HYPERLINK(""http://127.0.0.1/"",""look"")"' in raw


def test_an_empty_answer_is_a_header(api: Api) -> None:
    for path in ("goodput", "goodput/weekly", "runs"):
        response = api.get(path, api.token("read"), format="csv")
        assert lines_of(response) == []
        assert response.content.decode().count("\r\n") == 1


@pytest.mark.parametrize("start", sorted(FORMULA_STARTS))
@pytest.mark.parametrize("before", ["", " ", "'", '"', "\u00a0", "\u3000", "\u200b", "\ufeff", " ' \u2060"])
def test_what_could_begin_a_formula(start: str, before: str) -> None:
    assert harmless(f"{before}{start}cmd") == f"'{before}{start}cmd"


@pytest.mark.parametrize("name", ["", "llm", "a=b", "1-2", "gpu-7", "'quoted'", "é", "用户", " x", "5"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert harmless(name) == name


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=4))
def test_a_reader_gets_back_what_was_written(lines: list[list[str]]) -> None:
    text = table(("a", "b"), [dict(zip("ab", line, strict=True)) for line in lines])
    read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert read == [["a", "b"], *lines]
