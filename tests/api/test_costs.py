"""What GPU time cost: each figure again from ledgers of one pool between two prices, and by hand."""

import csv
import io
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.db.models import F
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ledger import queries
from ledger.access import Scope, scope_of_organization
from ledger.categorizer import categorize
from ledger.core.costs import Cost, money
from ledger.core.windows import DAY, HOUR, WEEK, Window, floor_day, floor_hour
from ledger.models import Cluster, DirtyDay, Organization, Pool, Price
from ledger.queries import Filters
from tests.api.conftest import Api
from tests.api.history import History
from tests.postgres_world import moment

BY = ("workspace", "run", "machine", "pool", "user")
PRICES = {"h100": {21: 2_500_000, 9: 3_125_000, 2: 0, 1: 2_000_001}, "a100": {14: 1_000_000}}


@pytest.fixture
def priced(history: History) -> History:
    """The history with prices that change, begin late and end, and clocks that stand still."""
    for pool in Pool.objects.filter(cluster__organization=history.tenants.acme):
        for days, micros in PRICES.get(pool.name, {}).items():
            Price.objects.create(pool=pool, since=moment(floor_day(history.now) - days * DAY), micros=micros)
    Cluster.objects.update(counted_until=F("open_hour") + timedelta(hours=1))
    return history


def stretches(history: History, pool: str, window: Window) -> list[tuple[int, Window]]:
    """The parts of a window in which a pool has one price."""
    today = floor_day(history.now)
    edges = [(0, 0), *((today - days * DAY, micros) for days, micros in PRICES.get(pool, {}).items()), (1 << 50, 0)]
    found = [
        (micros, max(since, window.start), min(until, window.end))
        for (since, micros), (until, _) in zip(edges, edges[1:], strict=False)
    ]
    return [(micros, Window(start, end)) for micros, start, end in found if start < end]


def again(history: History, scope: Scope, window: Window, by: str, filters: dict[str, str]) -> dict[Any, Cost]:
    """The costs by row, None for all of them, from ledgers of one pool at one price."""
    found: dict[Any, Cost] = {}
    for pool in ("h100", "a100", "none"):
        if filters.get("pool", pool) != pool:
            continue
        for micros, part in stretches(history, pool, window):
            answer = queries.goodput(scope, part, by, Filters(**filters | {"pool": pool}), limit=None)
            for row in answer.rows:
                of = row.ledger
                cost = Cost(of.allocated * micros, of.productive * micros, 0 if micros else of.allocated)
                for key in ((row.pk, row.name), None):
                    found[key] = found.get(key, Cost()) + cost
    return {key: cost for key, cost in found.items() if cost != Cost()}


@hypothesis_settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.integers(0, 600),
    length=st.integers(1, 600),
    by=st.sampled_from(BY),
    filters=st.sampled_from(
        [
            {},
            {},
            {"pool": "h100"},
            {"run": "llm"},
            {"user": "bo"},
            {"machine": "gpu-1"},
            {"cluster": "east"},
            {"cluster": "west", "pool": "a100"},
            {"workspace": "speech"},
            {"q": "sweep"},
        ]
    ),
    dirty=st.booleans(),
)
def test_costs_are_ledgers_of_pools_times_prices(
    priced: History, before: int, length: int, by: str, filters: dict[str, str], dirty: bool
) -> None:
    for cluster in Cluster.objects.all():
        if dirty:
            DirtyDay.objects.get_or_create(cluster=cluster, day=moment(floor_day(priced.now) - 3 * DAY))
        else:
            categorize(cluster)
    end = floor_hour(priced.now) + 2 * HOUR - before * HOUR
    window = Window(end - length * HOUR, end)
    scope = scope_of_organization(priced.tenants.acme)
    answer = queries.goodput(scope, window, by, Filters(**filters), limit=None)
    assert answer.costs
    told = {(row.pk, row.name): answer.costs.of(row.pk, row.name, window.start) for row in answer.rows}
    wanted = again(priced, scope, window, by, filters)
    assert {key: cost for key, cost in told.items() if cost != Cost()} == {k: c for k, c in wanted.items() if k}
    assert answer.costs.total(window.start) == wanted.get(None, Cost())


@pytest.mark.parametrize("by", BY)
def test_weeks_add_up_to_their_window(priced: History, by: str) -> None:
    scope = scope_of_organization(priced.tenants.acme)
    window = Window(priced.edge - 3 * WEEK, priced.edge)
    weeks, whole = queries.weekly(scope, window, by, limit=None), queries.goodput(scope, window, by, limit=None)
    assert weeks.costs and whole.costs  # noqa: PT018
    assert weeks.costs.whole == whole.costs.total(window.start)
    for row in whole.rows:
        parts = [weeks.costs.of(row.pk, row.name, week.start) for week in weeks.weeks]
        assert sum(parts, Cost()) == whole.costs.of(row.pk, row.name, window.start), row.name


@pytest.mark.parametrize("by", BY)
def test_no_day_is_too_large_and_no_price_too_high(priced: History, by: str) -> None:
    """A thousand GPU-hours at 2.50 are beyond 64 bits already."""
    scope = scope_of_organization(priced.tenants.acme)
    window = Window(priced.edge - 3 * WEEK, priced.edge)
    usual = queries.goodput(scope, window, by).costs
    Price.objects.update(micros=F("micros") * 30_000)
    dear = queries.goodput(scope, window, by).costs
    assert usual and dear and usual.whole.held  # noqa: PT018
    assert dear.whole == Cost(usual.whole.held * 30_000, usual.whole.productive * 30_000, usual.whole.unpriced)
    assert dear.whole.held > 1 << 63


def test_by_hand() -> None:
    eight_gpus_for_an_hour = 8 * 3_600_000_000
    cost = Cost(eight_gpus_for_an_hour * 2_500_000, eight_gpus_for_an_hour * 2_500_000 * 3 // 4)
    assert (money(cost.held), money(cost.productive), money(cost.not_productive)) == (20, 15, 5)


def test_json_and_csv_say_the_same_in_the_currency(api: Api, priced: History) -> None:
    Organization.objects.filter(name="acme").update(currency="EUR")
    asked = {**priced.closed(), "by": "run", "limit": 1000}
    told = api.get("goodput", priced.reader, **asked).json()
    assert told["currency"] == "EUR"
    text = api.get("goodput", priced.reader, **asked, format="csv").content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert {line["currency"] for line in lines} == {"EUR"}
    for row, line in zip(told["rows"], lines, strict=True):
        for key in ("cost", "cost_not_productive", "unpriced_gpu_hours"):
            assert Decimal(line[key]) == Decimal(str(row[key])).quantize(Decimal("0.000001")), (row["name"], key)
    total = told["total"]
    assert abs(sum(row["cost"] for row in told["rows"]) - total["cost"]) < 0.0001
    assert 0 < total["cost_not_productive"] < total["cost"]
    weekly = api.get("goodput/weekly", priced.reader, by="pool").json()
    assert weekly["currency"] == "EUR"
    assert weekly["total"]["cost"] > 0


def test_without_prices_there_is_no_money(api: Api, history: History) -> None:
    told = api.get("goodput", history.reader, **history.closed()).json()
    assert "currency" not in told
    assert "cost" not in told["total"]
    text = api.get("goodput", history.reader, **history.closed(), format="csv").content.decode()
    assert "cost" not in text.splitlines()[0]


def test_prices_of_another_organization_are_not_ones_own(api: Api, history: History) -> None:
    theirs = Pool.objects.filter(cluster=history.tenants.foreign_east).first()
    assert theirs
    Price.objects.create(pool=theirs, since=moment(history.edge - 21 * DAY), micros=1)
    assert "currency" not in api.get("goodput", history.reader, **history.closed()).json()


def test_an_amount_is_money_exactly() -> None:
    assert money(1) == Fraction(1, 3_600_000_000 * 1_000_000)
