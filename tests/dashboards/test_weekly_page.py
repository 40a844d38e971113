"""The page of the last eight weeks: the chart and the table say what the query says."""

import csv
import io
import json
from typing import Any

import plotly.graph_objects as go
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboards.numbers import hours
from dashboards.weeks import ROWS, days, name
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR, Ledger, percent
from ledger.core.windows import DAY, WEEK, Window
from ledger.queries import Week, Weeks
from tests.dashboards.conftest import Get
from tests.dashboards.reading import cells, read, text_of
from tests.dashboards.world import World, more_runs

WEEKLY = "/w/acme/vision/goodput/weekly"
FIRST_MONDAY_OF_2026 = 20_458 * DAY


def asked(world: World, by: str = "run") -> Weeks:
    return queries.weekly(scope_of_workspace(world.vision), Window.last_weeks(world.now, 8), by=by, limit=ROWS)


def steady(ledger: Ledger) -> list[str]:
    """What does not move on while a page is asked for: the losses that are over."""
    return [hours(ledger.amounts[category]) for category in (Category.IDLE, Category.STARTING, Category.RESTART)]


@pytest.mark.parametrize("by", ["run", "pool"])
def test_each_week_has_its_sum_and_the_rows_that_come_first(world: World, get: Get, by: str) -> None:
    answer = asked(world, by)
    shown = cells(get(WEEKLY, by=by, show="numbers"))
    expected = []
    for week in reversed(answer.weeks):
        expected.append((name(week), week.total))
        expected += [(row.name, row.ledger) for row in week.rows]
    expected.append(("Total", answer.total))
    assert len(answer.weeks) == 8
    assert [row[0].startswith(label) for row, (label, _) in zip(shown, expected, strict=True)] == [True] * len(shown)
    assert [[row[4], row[6], row[7]] for row in shown] == [steady(ledger) for _, ledger in expected]


def test_the_chart_has_the_numbers_of_the_table(world: World, get: Get) -> None:
    page = read(get(WEEKLY))
    (chart,) = [element for element in page.all() if "data-figure" in element.attributes]
    figure = json.loads(chart.attributes["data-figure"])
    answer = asked(world)
    assert [trace["name"] for trace in figure["data"]] == [category.label for category in Category]
    for category in (Category.IDLE, Category.STARTING, Category.RESTART):
        trace = figure["data"][category]
        exact = [week.total.amounts[category] / GPU_US_PER_HOUR for week in answer.weeks]
        assert trace["y"] == pytest.approx(exact, abs=0.0005)
        assert trace["x"][-1] == f"{name(answer.weeks[-1])}<br>{days(answer.weeks[-1])}<br>partial"
        assert all("partial" not in label for label in trace["x"][:-1])
    assert figure["layout"]["barmode"] == "stack"
    assert json.loads(go.Figure(figure).to_json()) == figure, "Plotly takes it, and as it is"


def test_only_the_running_week_is_partial_and_weeks_lead_to_their_hours(world: World, get: Get) -> None:
    page = read(get(WEEKLY))
    weeks = [row for row in page.by_id("rows").of("tr") if row.attributes.get("class") == "week"]
    assert ["partial" in week.text for week in weeks] == [True] + [False] * 7
    newest = asked(world).weeks[-1]
    there = get(weeks[0].of("a")[0].attributes["href"])
    assert there.context["shown"].window == Window(newest.start, newest.end)
    idle = [row[4] for row in cells(get(f"{weeks[0].of('a')[0].attributes['href']}&show=numbers"))]
    assert idle[-1] == hours(newest.total.amounts[Category.IDLE])


def test_downloads_have_every_row_of_every_week(world: World, get: Get) -> None:
    more_runs(world, 20)
    answer = queries.weekly(scope_of_workspace(world.vision), Window.last_weeks(world.now, 8), by="run", limit=None)
    lines = list(csv.DictReader(io.StringIO(get(WEEKLY, format="csv").content.decode())))
    assert len(lines) == sum(week.count for week in answer.weeks) > 20
    told = json.loads(get(WEEKLY, format="json").content)
    assert [week["count"] for week in told["weeks"]] == [week.count for week in answer.weeks]
    assert get(WEEKLY, format="csv", by="planet").status_code == 400


def test_the_page_is_only_for_who_may_see_it(world: World, get: Get) -> None:
    assert get(WEEKLY, "adam").status_code == get(WEEKLY, "olga").status_code == 200
    assert get(WEEKLY, "eve").status_code == get(WEEKLY, "sol").status_code == 404
    assert "Nothing has been counted here yet" in get("/w/acme/empty room/goodput/weekly").content.decode()
    assert text_of(get(WEEKLY), "counted").startswith("counted until")


def test_the_number_of_queries_does_not_depend_on_the_rows(world: World, get: Get) -> None:
    def counted() -> int:
        with CaptureQueriesContext(connection) as captured:
            get(WEEKLY)
        return len(captured)

    get(WEEKLY)
    few = counted()
    more_runs(world, 60)
    assert few == counted() <= 10


@pytest.mark.parametrize(
    ("weeks", "shown"), [(0, ("Week 2", "5–11 Jan")), (4, ("Week 6", "2–8 Feb")), (-1, ("Week 1", "29 Dec – 4 Jan"))]
)
def test_weeks_are_named_as_iso_says(weeks: int, shown: tuple[str, str]) -> None:
    start = FIRST_MONDAY_OF_2026 + weeks * WEEK
    week: Any = Week(start, start + WEEK, partial=False, rows=(), total=Ledger(), count=0)
    assert (name(week), days(week)) == shown


def test_percent_of_a_week_is_that_of_its_sum(world: World, get: Get) -> None:
    closed = next(week for week in asked(world).weeks if not week.total.asked)
    row = next(row for row in cells(get(WEEKLY)) if row[0].startswith(name(closed)))
    assert row[1:4] == ["0.0", "0.0", percent(None)]
