"""A batch through the real ingest on Postgres: what is taken, told twice, late, refused; and what it becomes."""

import pytest

from ledger.core.categories import Category
from ledger.ingest import BadBatch
from ledger.models import Cluster, Machine, Refused, Run, Span, State, Worker, Workspace
from tests.ledger.conftest import RUN, East, hours, reading, state


def amounts(east: East, start: str, end: str) -> dict[str, int]:
    total = east.goodput(start, end).total
    return {c.label: amount for c, amount in zip(Category, total.amounts, strict=True) if amount}


def test_a_life_is_counted_from_its_states(east: East) -> None:
    receipt = east.say(
        "03:00",
        state("00:00", "pending", gpus=8),
        state("00:30", "starting", machine="gpu-7", pool="h100"),
        state("01:00", "running"),
        state("02:30", "ended"),
    )
    assert (receipt.accepted, receipt.duplicate, receipt.refused) == (5, 0, [])
    assert amounts(east, "00:00", "04:00") == hours(waiting=4, starting=4, productive=12)


def test_sending_again_is_a_duplicate_and_changes_nothing(east: East) -> None:
    told = (state("00:00", "running", gpus=2), state("01:00", "ended"))
    east.say("02:00", *told)
    before = east.goodput("00:00", "03:00")
    receipt = east.say("02:01", *told)
    assert (receipt.accepted, receipt.duplicate) == (1, 2)
    assert east.goodput("00:00", "03:00").rows == before.rows


def test_a_late_state_corrects_closed_hours_and_their_roll_ups(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    east.categorize("50:00")
    assert amounts(east, "00:00", "48:00") == hours(productive=48)
    east.say("50:01", state("10:00", "ended"))
    assert amounts(east, "00:00", "48:00") == hours(productive=10)
    east.categorize("50:02")
    assert amounts(east, "00:00", "48:00") == hours(productive=10)
    assert east.check("50:03").differences == []


def test_a_state_ahead_is_stored_and_counted_when_the_clock_reaches_it(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1), state("00:01", "ended"))
    assert Span.objects.get().until is None
    east.categorize("00:30")
    assert amounts(east, "00:00", "01:00") == hours(productive=1 / 60)


@pytest.mark.parametrize(("moment", "error"), [("00:32:00.001", "future"), ("00:32", None), ("-9700:00", "too_old")])
def test_what_is_too_far_ahead_or_too_old_is_refused_and_kept(east: East, moment: str, error: str | None) -> None:
    receipt = east.say("00:30", state(moment, "running", gpus=1))
    assert [refused.error for refused in receipt.refused] == ([error] if error else [])
    assert list(Refused.objects.values_list("list", "field", "error")) == ([("workers", "at", error)] if error else [])


def test_a_batch_whose_word_is_ahead_is_refused_as_a_whole(east: East) -> None:
    with pytest.raises(BadBatch, match="2 minutes ahead"):
        east.send("00:30", sent_at="2099-06-01T12:00:00Z")
    assert not Run.objects.exists()


def test_a_worker_of_an_unknown_run_is_refused_and_the_rest_is_counted(east: East) -> None:
    stranger = {**state("00:00", "running", gpus=1), "run": "run-2"}
    receipt = east.say("00:10", stranger, state("00:00", "running", gpus=1))
    assert [(r.list, r.index, r.field, r.error) for r in receipt.refused] == [("workers", 0, "run", "unknown_run")]
    assert Worker.objects.count() == 1


def test_a_run_keeps_its_first_workspace_and_takes_its_newest_name(east: East) -> None:
    east.send("00:00")
    east.send("00:10", runs=[{**RUN, "workspace": "speech", "name": "llm-2"}])
    run = Run.objects.get()
    assert (run.workspace.name, run.name, run.user) == ("vision", "llm-2", "ana")


def test_workspaces_are_made_unless_the_cluster_says_no(east: East) -> None:
    Cluster.objects.update(auto_workspaces=False)
    receipt = east.send("00:00")
    assert [(r.list, r.field, r.error) for r in receipt.refused] == [("runs", "workspace", "unknown_workspace")]
    Workspace.objects.create(organization=east.cluster.organization, name="vision")
    assert east.send("00:01").refused == []


def test_a_token_of_one_workspace_writes_only_there(east: East) -> None:
    vision = Workspace.objects.create(organization=east.cluster.organization, name="vision")
    speech = Workspace.objects.create(organization=east.cluster.organization, name="speech")
    assert east.send("00:00", workspace=vision).refused == []
    stranger = east.say("00:01", state("00:00", "running", gpus=1), workspace=speech, runs=[])
    unknown = east.send("00:01", workspace=speech, runs=[], workers=[{**state("00:00", "running"), "run": "run-9"}])
    assert [r.error for r in stranger.refused] == [r.error for r in unknown.refused] == ["unknown_run"]
    assert not State.objects.exists()


def test_a_reading_of_a_known_run_is_kept_for_a_worker_yet_to_come(east: East) -> None:
    east.send("00:01", readings=[reading("00:01", gpu_busy=1)])
    east.say("00:30", state("00:00", "running", gpus=1), state("00:30", "ended"))
    assert amounts(east, "00:00", "01:00") == hours(productive=1 / 60, idle=29 / 60)


def test_an_older_reading_is_late_and_an_equal_one_a_duplicate(east: East) -> None:
    east.say("00:10", state("00:00", "running", gpus=1))
    receipts = [
        east.send("00:10", readings=[reading(moment, gpu_busy=busy)])
        for moment, busy in (("00:05", 90), ("00:05", 90), ("00:04", 1))
    ]
    assert [(r.accepted - 1, r.duplicate, r.late) for r in receipts] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_a_machine_is_labelled_and_its_pool_fills_in_for_states_of_the_batch(east: East) -> None:
    machines = [{"name": "gpu-7", "pool": "h100", "gpus": 8, "ready": False}]
    east.say("00:10", state("00:00", "running", gpus=8, machine="gpu-7"), machines=machines)
    machine = Machine.objects.get(name="gpu-7")
    assert (machine.pool.name, machine.gpus_milli, machine.ready) == ("h100", 8000, False)
    assert [row.name for row in east.goodput("00:00", "01:00", by="pool").rows] == ["h100"]


def test_a_stall_reaches_back_to_the_last_progress_in_closed_hours(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=8))
    east.send("00:30", readings=[reading("00:30", step=7, step_seconds=2, gpu_busy=100)])
    east.categorize("03:00")
    east.send("03:00", readings=[reading("03:00", step=7, gpu_busy=100)])
    assert amounts(east, "00:00", "03:00") == hours(productive=4, stalled=20)
    east.send("03:30", readings=[reading("03:30", step=8, gpu_busy=100)])
    east.categorize("04:00")
    assert amounts(east, "00:00", "04:00") == hours(productive=8, stalled=24)
    assert east.check("04:01").differences == []


def test_a_gang_is_stalled_with_the_one_that_tells_steps(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1), state("00:00", "running", "w1", gpus=4))
    east.send("00:10", readings=[reading("00:10", step=7)])
    east.send("00:30", readings=[reading("00:30", step=7)])
    east.categorize("01:00")
    assert amounts(east, "00:00", "01:00") == hours(productive=5 / 6, stalled=5 * 5 / 6)
    east.say("01:00", state("00:40", "ended"))
    assert amounts(east, "00:00", "01:00") == hours(productive=5 / 6 + 4 / 3, stalled=2.5)
    assert east.check("01:10").differences == []


def test_silence_is_unobserved_and_a_later_word_takes_it_back(east: East) -> None:
    east.say("00:00", state("00:00", "starting", gpus=1))
    east.categorize("00:20")
    assert east.goodput("00:00", "01:00").total.unobserved == hours(x=55 / 60)["x"]
    east.send("00:30", seen_from=state("00:00")["at"])
    east.categorize("00:34")
    assert east.goodput("00:00", "01:00").total.unobserved == 0
    east.categorize("00:35")
    assert east.goodput("00:00", "01:00").total.unobserved == hours(x=25 / 60)["x"]
    assert east.check("00:40").differences == []


def test_an_evaluation_across_closed_hours_and_rolled_up_days_is_no_stall(east: East) -> None:
    east.say("22:00", state("22:00", "running", gpus=8))
    east.send("22:30", readings=[reading("22:30", step=7, gpu_busy=100)])
    east.send("22:35", readings=[reading("22:35", step=7, gpu_busy=100, doing="evaluation")])
    east.categorize("26:00")
    east.send("26:00", readings=[reading("26:00", step=7, gpu_busy=100)])
    assert amounts(east, "22:00", "26:00") == hours(productive=32)
    east.send("30:00", readings=[reading("30:00", step=7, gpu_busy=100)])
    east.categorize("30:00")
    assert amounts(east, "22:00", "30:00") == hours(productive=32, stalled=32)
    assert east.check("30:01").differences == []
