"""Every limit stands in the documentation with the value that is in force; the other tests here try each of them."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.api.conftest import Api, instant
from tests.api.test_observations import RUN, batch, counts, problem, state

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


def test_two_minutes_ahead_and_more(api: Api) -> None:
    """The clock goes on between here and there, so the limit is tried with a second to spare on either side."""
    token = api.token("ingest")
    assert counts(api.post(batch(runs=[RUN], workers=[state(-119, phase="running", gpus=1)]), token)) == (2, 0, 0, 0)
    refused = api.post(batch(workers=[state(-125, phase="ended")]), token).json()["refused"]
    assert [item["error"] for item in refused] == ["future"]
    assert api.post(batch(sent_at=instant(-119)), token).status_code == 202
    problem(api.post(batch(sent_at=instant(-125)), token), 400)
