"""Days are rolled up when they are over, the running one every three hours; answers are those of the hours."""

from importlib import import_module
from itertools import product
from typing import Any

import pytest
from django.db import connection

from ledger.access import scope_of_organization
from ledger.core.windows import DAY, HOUR, Window, rolled_to
from ledger.models import DayMachine, DayRun, DirtyDay, DirtyHour, EighthMachine, EighthRun, RunTotal, WeekMachine
from ledger.queries import GROUPINGS, goodput, weekly
from tests.ledger.conftest import East, hours, reading, state
from tests.postgres_world import moment
from tests.tables import at


def rolled() -> list[int | None]:
    return list(DayRun.objects.order_by("day").values_list("productive", flat=True))


def gpu_hours(*amounts: int) -> list[int]:
    return [hours(x=amount)["x"] for amount in amounts]


def test_days_are_rolled_up_when_they_are_over_and_again_when_corrected(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.categorize("24:00")
    assert rolled() == gpu_hours(24)
    assert RunTotal.objects.get().productive == hours(x=24)["x"]
    east.say("24:10", state("12:00", "ended"))
    assert DirtyDay.objects.count() == 1
    east.categorize("24:11")
    assert rolled() == gpu_hours(12)
    assert RunTotal.objects.get().productive == hours(x=12)["x"]
    assert not DirtyDay.objects.exists()


@pytest.mark.parametrize(
    ("now", "amounts"),
    [
        ("00:30", []), ("03:59", []), ("04:00", [3]), ("06:59", [3]), ("07:00", [6]), ("23:59", [21]),
        ("24:00", [24]), ("27:59", [24]), ("28:00", [24, 3]),
    ],
)  # fmt: skip
def test_the_running_day_is_rolled_up_every_three_hours_an_hour_later(east: East, now: str, amounts: list[int]) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.categorize(now)
    assert rolled() == gpu_hours(*amounts)
    weeks = WeekMachine.objects.order_by("week", "workspace").values_list("productive", flat=True)
    assert sum(weeks) == 2 * sum(gpu_hours(*amounts)), "each with its workspace and without"
    eighths = [EighthRun, EighthMachine]
    assert [list(each.objects.values_list("productive", flat=True)) for each in eighths] == [
        gpu_hours(*[3] * (sum(amounts) // 3))
    ] * 2
    assert not DirtyDay.objects.exists()
    assert not DirtyHour.objects.exists()


def test_only_a_change_to_what_is_rolled_up_makes_the_running_day_dirty(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.categorize("05:00")
    east.say("05:01", state("04:30", "running", gpus=2))
    assert not DirtyDay.objects.exists()
    assert DirtyHour.objects.count() == 1
    east.say("05:02", state("02:30", "running", gpus=3), state("02:45", "running", gpus=1))
    assert DirtyDay.objects.count() == 1
    east.categorize("05:03")
    assert rolled() == [hours(x=3.5)["x"]]
    assert not DirtyDay.objects.exists()


def test_the_function_of_the_database_is_that_of_the_core(db: None) -> None:
    with connection.cursor() as cursor:
        for hour in range(60):
            cursor.execute("SELECT ledger_ms(ledger_rolled_to(%s))", [moment(at("00:00") + hour * HOUR)])
            assert cursor.fetchone() == (rolled_to(at("00:00") + hour * HOUR),)


@pytest.mark.parametrize("now", ["00:40", "03:40", "04:20", "12:20", "23:50", "24:30", "28:10", "31:00", "47:10"])
@pytest.mark.parametrize("dirty", [None, 0, 1])
def test_answers_are_those_of_the_hours(
    east: East, monkeypatch: pytest.MonkeyPatch, now: str, dirty: int | None
) -> None:
    """Every window of few hours around the edges, at each of which something else goes on."""
    tell(east, now)
    if dirty is not None:
        DirtyDay.objects.get_or_create(cluster=east.cluster, day=moment(at("00:00") + dirty * DAY))
        DayMachine.objects.filter(day=moment(at("00:00") + dirty * DAY)).update(productive=1)
    scope, open_hour = scope_of_organization(east.cluster.organization), at(now) // HOUR * HOUR
    edges = sorted({at(text) for text in ("-30:00", "00:00", "02:00", "13:00", "24:00", "25:00")} | {open_hour + HOUR})
    ends = sorted({*edges, rolled_to(open_hour), rolled_to(open_hour) - HOUR, open_hour})
    for start, end, by, ask in product(edges, ends, GROUPINGS, (goodput, weekly)):
        if start >= end or end > open_hour + HOUR:
            continue
        told = ask(scope, Window(start, end), by)
        with monkeypatch.context() as patched:
            patched.setattr(import_module("ledger.queries.goodput"), "_rollup", lambda asked, of_runs: "hours")
            assert ask(scope, Window(start, end), by) == told, (start, end, by)


def tell(east: East, now: str) -> None:
    """Tell of a worker that moves, is idle, fails and comes back, and of one that waits, what is known at `now`."""
    story: list[tuple[str, dict[str, Any]]] = [
        ("00:00", {"workers": [state("00:00", "running", gpus=2, machine="gpu-1")]}),
        ("01:10", {"readings": [reading("01:10", gpu_busy=1)]}),
        ("02:10", {"workers": [state("02:10", "running", gpus=2, machine="gpu-2")]}),
        ("12:30", {"workers": [state("12:30", "failed")]}),
        ("13:30", {"workers": [state("13:30", "pending", worker="w1", gpus=4)]}),
        ("24:15", {"workers": [state("24:15", "running", gpus=3, machine="gpu-1")]}),
        ("29:30", {"workers": [state("29:30", "ended")]}),
    ]
    for when, told in story:
        if at(when) <= at(now):
            east.send(when, **told)
    east.categorize(now)
