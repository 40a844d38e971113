"""The settings of a cluster: thresholds, dated settings, prices."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger import prices, rules
from ledger.core.categories import Category
from ledger.models import Change, Cluster, Pool, Price
from tests.dashboards.reading import read, text_of
from tests.dashboards.test_settings import client_of, post
from tests.dashboards.world import World

PATH = "/organizations/acme/clusters/east/settings"
AS_IT_IS = {"busy": "5", "stall": "10", "carry": "5", "auto": "on", "unmeasured": "productive", "readings": "expected",
            "drop_below": "50", "drop_points": "20", "drop_held": "1", "straggler": "1.3"}  # fmt: skip
DAY = timedelta(days=1)


@pytest.fixture
def east(world: World) -> Cluster:
    return Cluster.objects.get(name="east", organization__name="acme")


def today() -> datetime:
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@pytest.mark.parametrize(("who", "status"), [("ana", 404), ("adam", 200), ("olga", 200), ("eve", 404), ("nora", 404)])
def test_who_may_look_and_change(east: Cluster, who: str, status: int) -> None:
    assert client_of(who).get(PATH).status_code == status
    assert post(who, PATH, "thresholds", **AS_IT_IS, ).status_code == status  # fmt: skip


def test_thresholds_stand_as_they_are_and_saving_them_changes_nothing(east: Cluster) -> None:
    fields = {field.attributes.get("name"): field.attributes for field in read(client_of("adam").get(PATH)).of("input")}
    assert [fields[name]["value"] for name in ("busy", "stall", "carry")] == ["5", "10", "5"]
    Change.objects.all().delete()
    post("adam", PATH, "thresholds", **AS_IT_IS)
    assert Change.objects.count() == 0


def test_what_is_changed_is_changed_and_nothing_else(east: Cluster) -> None:
    Change.objects.all().delete()
    said = post("adam", PATH, "thresholds", **AS_IT_IS | {"busy": "7.5", "stall": "30", "straggler": "1.5"})
    assert "In force for samples that arrive from now on" in said.content.decode()
    east.refresh_from_db()
    assert (east.busy_threshold_milli_percent, east.stall_after_ms, east.carry_max_ms) == (7_500, 1_800_000, 300_000)
    assert east.straggler_milli == 1_500
    (change,) = Change.objects.all()
    assert change.detail["changed"] == {
        "busy_threshold_milli_percent": 7_500,
        "stall_after_ms": 1_800_000,
        "straggler_milli": 1_500,
    }
    assert change.actor == "adam"


def test_dated_settings_are_in_force_from_the_next_whole_hour(east: Cluster) -> None:
    said = post("adam", PATH, "thresholds", **AS_IT_IS | {"unmeasured": "idle"}).content.decode()
    hour = (datetime.now(UTC) + timedelta(hours=1)).strftime("%H:00 UTC")
    assert f"In force from {hour} on" in said
    standing = rules.standing(east.pk)
    assert (standing.unmeasured_as, standing.readings_expected) == (Category.IDLE, True)
    assert 'value="idle" selected' in client_of("adam").get(PATH).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [("busy", "-1"), ("busy", "101"), ("busy", "NaN"), ("busy", "1e400"), ("stall", "0"), ("stall", "1441"),
     ("carry", ""), ("straggler", "1"), ("unmeasured", "stalled"), ("readings", "maybe")],
)  # fmt: skip
def test_what_cannot_be_is_refused_whole(east: Cluster, field: str, value: str) -> None:
    page = post("adam", PATH, "thresholds", **AS_IT_IS | {"stall": "30"} | {field: value})
    assert page.status_code == 400
    assert [problem for problem in read(page).of("p") if "problems" in problem.attributes.get("class", "")]
    east.refresh_from_db()
    assert (east.stall_after_ms, east.busy_threshold_milli_percent) == (600_000, 5_000)


# --- prices -------------------------------------------------------------------------------------------------


def set_price(east: Cluster, price: str, since: datetime, pool: str = "h100") -> Any:
    found = Pool.objects.get(cluster=east, name=pool)
    return post("adam", PATH, "prices", since=since.date().isoformat(), **{f"pool-{found.pk}": price})


def micros(east: Cluster, at: datetime) -> dict[str, int | None]:
    return {price.pool: price.micros for price in prices.prices_of(east, at)}


def test_a_price_holds_from_a_day_on_and_earlier_days_keep_theirs(east: Cluster) -> None:
    assert "1 price changed" in set_price(east, "2.50", today() - 30 * DAY).content.decode()
    set_price(east, "2.25", today())
    set_price(east, "3", today() + 10 * DAY)
    by_day = [micros(east, today() + days * DAY)["h100"] for days in (-31, -30, -1, 0, 9, 10, 400)]
    assert by_day == [None, 2_500_000, 2_500_000, 2_250_000, 2_250_000, 3_000_000, 3_000_000]
    assert f"h100: 3.00 USD from {today() + 10 * DAY:%-d %b %Y} on." in text_of(client_of("adam").get(PATH), "page")


def test_the_price_that_stands_is_in_the_field_and_the_same_again_changes_nothing(east: Cluster) -> None:
    set_price(east, "0.125", today())
    assert 'value="0.125"' in client_of("adam").get(PATH).content.decode()
    assert "No price changed" in set_price(east, "0.125", today()).content.decode()
    assert Price.objects.count() == 1


@pytest.mark.parametrize("price", ["-1", "NaN", "Infinity", "1e9", "0.0000001", "two", "1,5"])
def test_a_price_that_is_none_is_refused(east: Cluster, price: str) -> None:
    assert set_price(east, price, today()).status_code == 400
    assert not Price.objects.exists()


def test_a_pool_of_another_cluster_gets_no_price(east: Cluster) -> None:
    west = Cluster.objects.create(organization=east.organization, name="west")
    theirs = Pool.objects.create(cluster=west, name="x")
    with pytest.raises(ValueError, match="no such pool"):
        prices.set_prices(east, today(), {theirs.pk: 1})
    post("adam", PATH, "prices", since=today().date().isoformat(), **{f"pool-{theirs.pk}": "1"})
    assert not Price.objects.exists()


def test_prices_are_in_the_audit_log(east: Cluster) -> None:
    Change.objects.all().delete()
    set_price(east, "2.50", today())
    (change,) = Change.objects.all()
    assert (change.actor, change.what, change.organization) == ("adam", "prices_changed", "acme")
    assert change.detail["prices"] == {"h100": "2.50"}
