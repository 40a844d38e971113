"""Money on pages: where prices are set, the same as the interface says; where none is, nowhere."""

from fractions import Fraction
from typing import Any

import pytest

from dashboards.rows import in_money
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.core.costs import Cost, money
from ledger.core.windows import DAY, Window, floor_day
from ledger.models import Organization, Pool, Price
from tests.dashboards.conftest import GOODPUT, Get
from tests.dashboards.reading import cells, read, text_of
from tests.dashboards.world import World
from tests.postgres_world import moment

CLOSED = "2026-01-01T00:00Z"


@pytest.fixture
def priced(world: World) -> World:
    Organization.objects.filter(name="acme").update(currency="EUR")
    for pool in Pool.objects.filter(cluster=world.east, name="h100"):
        Price.objects.create(pool=pool, since=moment(floor_day(world.now) - 60 * DAY), micros=2_500_000)
    return world


def window(world: World) -> dict[str, Any]:
    """Closed hours: what they cost stays."""
    return {"start": moment(world.edge - 2 * DAY).isoformat(), "end": moment(world.edge).isoformat()}


def number(text: str) -> Fraction:
    return Fraction(text.replace("\u2009", "").replace("\u202f", ""))


def test_figures_and_rows_say_what_time_cost(priced: World, get: Get) -> None:
    scope = scope_of_workspace(priced.vision)
    answer = queries.goodput(scope, Window(priced.edge - 2 * DAY, priced.edge), "run")
    assert answer.costs
    whole = answer.costs.whole
    page = get(GOODPUT, "ana", **window(priced), show="numbers")
    held = text_of(page, "figure-held")
    assert "EUR" in held
    assert f"{round(money(whole.held) * 100) / 100:,.2f}".replace(",", "\u2009") in held.replace("\u202f", "\u2009")
    assert "GPU-hours without a price" in held
    by_name = {row[0].split(" ")[0]: row for row in cells(page)}
    for row in answer.rows:
        cost = answer.costs.of(row.pk, row.name, answer.window.start)
        shown = by_name[row.name.split(" ")[0]][-2:]
        if cost.unpriced and not cost.held:
            assert shown == ["–", "–"]
            continue
        assert [number(text) for text in shown] == [
            Fraction(round(money(amount) * 100), 100) for amount in (cost.held, cost.not_productive)
        ]
    head = [cell.text for cell in read(page).by_id("rows").of("thead")[0].of("th")]
    assert head[-2:] == ["Cost EUR", "Wasted EUR"]


def test_what_has_no_price_is_not_free() -> None:
    dear, free = 2 * 3_600_000_000 * 2_500_000, Cost(0, 0, 0)
    assert in_money(Cost(dear, dear, 0), 0) == "0.00"
    assert in_money(Cost(dear, 0, 7), dear) == "5.00"
    assert in_money(free, 0) == "0.00"
    assert in_money(Cost(0, 0, 7), 0) == "–"


@pytest.mark.parametrize("path", [GOODPUT, f"{GOODPUT}/weekly", "/w/acme/vision/runs/uid-llm"])
def test_without_prices_no_page_speaks_of_money(world: World, get: Get, path: str) -> None:
    text = get(path, "ana").content.decode()
    assert "Wasted" not in text
    assert "EUR" not in text
    assert "USD" not in text


@pytest.mark.parametrize("path", [GOODPUT, f"{GOODPUT}/weekly", "/organizations/acme/clusters/east/goodput"])
@pytest.mark.parametrize("show", ["bars", "numbers"])
def test_every_ledger_page_shows_it(priced: World, get: Get, path: str, show: str) -> None:
    page = get(path, "adam", show=show)
    assert page.status_code == 200
    rows = read(page).by_id("rows").of("tr")
    widths = {
        sum(int(cell.attributes.get("colspan", 1)) for cell in row.of("th", "td"))
        for row in rows
        if "more" not in row.attributes.get("class", "")
    }
    assert len(widths) == 1, "every row has as many cells as the head"
    assert "Wasted EUR" in text_of(page, "rows")


def test_the_page_of_a_run_says_what_it_cost(priced: World, get: Get) -> None:
    assert "EUR" in text_of(get("/w/acme/vision/runs/uid-llm", "ana"), "figure-lost")


def test_downloads_have_it_too(priced: World, get: Get) -> None:
    assert (
        get(GOODPUT, "ana", format="csv")
        .content.decode()
        .splitlines()[0]
        .endswith("cost,cost_not_productive,unpriced_gpu_hours,currency")
    )
