"""The ledger proves itself: whatever is spoilt is found and said, and rebuild repairs it."""

import pytest
from django.core.management import call_command
from django.db import connection

from ledger.checks import check
from ledger.models import LedgerHour, Span
from ledger.rebuilding import rebuild
from tests.ledger.conftest import East, reading, state
from tests.tables import at

SPOILT = {
    "a cell too large": "UPDATE ledger_hour SET productive = productive + 1 WHERE productive > 0",
    "a cell lost": "DELETE FROM ledger_hour WHERE machine_id = 0",
    "a cell too many": (
        "INSERT INTO ledger_hour (cluster_id, hour, run_id, machine_id, pool_id, idle) "
        "SELECT cluster_id, hour, run_id, 1, 0, 5 FROM ledger_hour LIMIT 1"
    ),
    "an open rate": "UPDATE ledger_opencell SET g_idle = g_idle + 1 WHERE machine_id <> 0",
    "an open cell's workspace": "UPDATE ledger_opencell SET workspace_id = workspace_id + 1",
    "an open offset": "UPDATE ledger_opencell SET a_idle = a_idle + 1",
    "a span of another size": "UPDATE ledger_span SET gpus_milli = gpus_milli + 1 WHERE until IS NULL",
    "a span of another kind": "UPDATE ledger_span SET unobserved = NOT unobserved",
    "a span lost": "DELETE FROM ledger_span WHERE until IS NULL",
    "a day of a run": "UPDATE ledger_dayrun SET productive = 1",
    "three hours of a run": "UPDATE ledger_eighthrun SET productive = 1",
    "three hours of a machine": "DELETE FROM ledger_eighthmachine WHERE machine_id <> 0",
    "a day of a machine": "DELETE FROM ledger_daymachine WHERE workspace_id <> 0",
    "a day of a machine, whoever had it": "UPDATE ledger_daymachine SET idle = 1 WHERE workspace_id = 0",
    "a day of a run in a pool": "UPDATE ledger_dayrun SET pool_id = 77",
    "a day of a pool": "UPDATE ledger_daypool SET pool_id = 77",
    "an hour of a pool": "DELETE FROM ledger_hourpool WHERE NOT held",
    "an hour of a pool, whoever had it": "DELETE FROM ledger_hourpool WHERE workspace_id = 0",
    "a day of a pool, whoever had it": "UPDATE ledger_daypool SET stalled = 1 WHERE workspace_id = 0",
    "an hour of today": "DELETE FROM ledger_hourpool WHERE hour >= '2026-09-29'",
    "a week of a machine": "UPDATE ledger_weekmachine SET preemption = 7",
    "a week of a run": "UPDATE ledger_weekrun SET preemption = 7",
    "a run's total": "UPDATE ledger_runtotal SET productive = 1",
}


@pytest.fixture
def story(east: East) -> East:
    east.say("00:10", state("00:00", "pending", gpus=4), state("00:10", "running", machine="gpu-7"))
    east.send("00:20", readings=[reading("00:20", gpu_busy=90, step=1)])
    east.send("30:00", readings=[reading("30:00", gpu_busy=1, step=1)])
    east.categorize("31:00")
    return east


def spoil(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_found_and_repaired(story: East, what: str) -> None:
    assert story.check("31:01").differences == []
    rows = list(LedgerHour.objects.order_by("pk").values())
    spoil(SPOILT[what])
    found = list(check(story.cluster.pk, at("31:01"), now=at("31:02")))[-1]
    assert found.differences
    assert list(rebuild(story.cluster.pk, now=at("31:03"))) == [1]
    assert story.check("31:04").differences == []
    assert list(LedgerHour.objects.order_by("pk").values()) == rows


def test_a_window_is_checked_by_itself(story: East) -> None:
    LedgerHour.objects.filter(hour__lt="2026-09-28T02:00Z", machine__name="gpu-7").update(productive=1)
    found = [
        list(check(story.cluster.pk, at("31:00"), at(start), at(end), now=at("31:00")))[-1].differences
        for start, end in (("00:00", "02:00"), ("02:00", "12:00"))
    ]
    assert [len(differences) for differences in found] == [6, 0], "two hours, and their roll-ups of workspaces and all"


def test_rebuilding_what_is_right_changes_nothing(story: East) -> None:
    spans = list(Span.objects.order_by("pk").values())
    list(rebuild(story.cluster.pk, now=at("31:01")))
    assert list(Span.objects.order_by("pk").values()) == spans
    assert story.check("31:02").differences == []


def test_the_command_says_it_and_exits_with_1(story: East, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("check_ledger")
    assert ": 0 differences in 1 workers" in capsys.readouterr().out
    spoil(SPOILT["a cell lost"])
    with pytest.raises(SystemExit) as stopped:
        call_command("check_ledger")
    assert stopped.value.code == 1
    assert "waiting 0 ≠ " in capsys.readouterr().out
    call_command("rebuild")
    call_command("check_ledger")


def test_more_held_than_a_machine_has_is_flagged_and_never_clipped(east: East) -> None:
    machines = [{"name": "gpu-7", "pool": "h100", "gpus": 8}]
    east.say(
        "00:00",
        state("00:00", "running", gpus=8, machine="gpu-7"),
        state("00:00", "running", "w1", gpus=1, machine="gpu-7"),
        machines=machines,
    )
    found = east.check("02:00")
    assert found.differences == []
    assert len(found.overcommitted) == 2
    assert "machine gpu-7" in found.overcommitted[0]
