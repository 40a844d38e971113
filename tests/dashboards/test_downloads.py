"""CSV and JSON of what a page shows: the integers of the query, the words of the interface, nothing that runs."""

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboards.moments import iso
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.core.categories import Category
from ledger.core.totals import gpu_hours
from ledger.core.windows import DAY, Window
from ledger.queries import Answer
from ledger.writing.figures import harmless
from tests.dashboards.conftest import Get
from tests.dashboards.world import FORMULA, World, more_runs

GROUPINGS = ("run", "machine", "pool", "workspace", "user")


def closed(world: World) -> dict[str, str]:
    return {"start": iso(world.edge - 2 * DAY), "end": iso(world.edge)}


def asked(world: World, **more: Any) -> Answer:
    window = Window(world.edge - 2 * DAY, world.edge)
    return queries.goodput(scope_of_workspace(world.vision), window, **{"limit": None, **more})


def table(response: Any) -> list[dict[str, str]]:
    assert response["Content-Type"].startswith("text/csv; charset=utf-8")
    assert all(line.endswith("\r\n") for line in response.content.decode().splitlines(keepends=True))
    return list(csv.DictReader(io.StringIO(response.content.decode(), newline="")))


@pytest.mark.parametrize("by", GROUPINGS)
def test_json_has_the_integers_of_the_query(world: World, get: Get, by: str) -> None:
    answer = asked(world, by=by)
    told = json.loads(get(format="json", unit="gpu_us", by=by, **closed(world)).content)
    assert [row["name"] for row in told["rows"]] == [row.name for row in answer.rows]
    for ledger, row in zip(
        [*(r.ledger for r in answer.rows), answer.total], [*told["rows"], told["total"]], strict=True
    ):
        assert row["gpu_hours"] == {c.label: str(ledger.amounts[c]) for c in Category}
        assert row["held_gpu_hours"] == {c.label: str(ledger.held[c]) for c in Category}
        assert row["allocated_gpu_hours"] == str(ledger.allocated)
        assert row["lost_gpu_hours"] == str(ledger.lost)
        assert row["waiting_gpu_hours"] == str(ledger.waiting)
        assert row["unobserved_productive_gpu_hours"] == str(ledger.unobserved_productive)
    assert (told["start"], told["end"], told["by"]) == (*closed(world).values(), by)


@pytest.mark.parametrize("by", GROUPINGS)
def test_csv_has_the_integers_of_the_query(world: World, get: Get, by: str) -> None:
    answer = asked(world, by=by, sort="name")
    told = table(get(format="csv", unit="gpu_us", by=by, sort="name", **closed(world)))
    assert [row["name"] for row in told] == [harmless(row.name) for row in answer.rows]
    for row, ledger in zip(told, (r.ledger for r in answer.rows), strict=True):
        assert [row[f"gpu_hours.{c.label}"] for c in Category] == [str(amount) for amount in ledger.amounts]
        assert [row[f"held_gpu_hours.{c.label}"] for c in Category] == [str(amount) for amount in ledger.held]
    total = sum(int(row["allocated_gpu_hours"]) for row in told)
    assert total == answer.total.allocated


def test_hours_have_six_decimals_rounded_each_by_itself(world: World, get: Get) -> None:
    answer = asked(world, by="run")
    rows = table(get(format="csv", **closed(world)))
    assert [row["productive_gpu_hours"] for row in rows] == [gpu_hours(r.ledger.productive, 6) for r in answer.rows]
    told = json.loads(get(format="json", **closed(world)).content, parse_float=Decimal)
    assert told["total"]["allocated_gpu_hours"] == Decimal(gpu_hours(answer.total.allocated, 6))


def test_goodput_is_left_out_where_nothing_was_held(world: World, get: Get) -> None:
    told = json.loads(get(format="json", q="queued", **closed(world)).content)
    assert "goodput" not in told["rows"][0]
    assert "goodput" not in told["total"]
    (row,) = table(get(format="csv", q="queued", **closed(world)))
    assert (row["goodput"], row["biggest_loss"]) == ("", "")


def test_the_page_gives_the_same_json_as_the_interface(world: World, get: Get) -> None:
    client = Client()
    client.force_login(User.objects.get(username="olga"))
    for by in GROUPINGS:
        here = json.loads(get(format="json", by=by, **closed(world)).content)
        there = json.loads(client.get("/v1/goodput", {"by": by, "workspace": "vision", **closed(world)}).content)
        for told in (here, there):
            del told["counted_until"]
        assert here == there


def test_all_rows_are_in_a_download_and_only_those_of_a_page_that_is_named(world: World, get: Get) -> None:
    more_runs(world, 60)
    names = [row.name for row in asked(world, by="run").rows]
    assert [row["name"] for row in table(get(format="csv", **closed(world)))] == [harmless(name) for name in names]
    second = table(get(format="csv", page="2", **closed(world)))
    assert [row["name"] for row in second] == [harmless(name) for name in names[50:]]


def test_search_and_narrowing_hold_for_downloads_too(world: World, get: Get) -> None:
    rows = table(get(format="csv", by="machine", run="uid-llm", q="gpu-1", **closed(world)))
    assert [(row["name"], row["pool"]) for row in rows] == [("gpu-1", "h100")]


def test_a_download_has_a_name(world: World, get: Get) -> None:
    response = get(format="csv", by="pool", **closed(world))
    first, last = (
        datetime.fromtimestamp(at / 1000, UTC).strftime("%-d-%b-%Y").lower()
        for at in (world.edge - 2 * DAY, world.edge)
    )
    assert response["Content-Disposition"] == f'attachment; filename="goodput-by-pool-{first}-to-{last}.csv"'


@pytest.mark.parametrize("shape", ["csv", "json"])
def test_a_bad_query_downloads_nothing_and_says_why(get: Get, shape: str) -> None:
    response = get(format=shape, by="planet")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert "“planet” is not a value of by" in response.json()["detail"]


def test_a_formula_in_a_name_is_text_in_the_csv(world: World, get: Get) -> None:
    names = [row["name"] for row in table(get(format="csv", **closed(world)))]
    assert f"'{FORMULA}" in names
    assert FORMULA not in names
    users = [row["name"] for row in table(get(format="csv", by="user", **closed(world)))]
    assert f"'{FORMULA}" in users
