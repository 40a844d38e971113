"""Observations that are late, doubled, disordered, ahead, wrong or missing (O1–O23), through the real ingest."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from ledger.core.categories import Category
from ledger.ingest import BadBatch
from ledger.models import LedgerHour, Refused, Run, Source, Span, State
from tests.evidence import BLANK, Settings
from tests.faults.east import by, gpu_hours, held, sound, total
from tests.ledger.conftest import RUN, East, reading, state
from tests.postgres_world import make_cluster
from tests.tables import at
from tests.worlds import MONDAY


@pytest.fixture
def east(db: None) -> East:
    return East(make_cluster(Settings(), MONDAY))


def running(east: East, *workers: str, gpus: float = 1, **fields: Any) -> None:
    names = workers or ("w0",)
    east.say("00:00", *(state("00:00", "running", name, gpus=gpus, **fields) for name in names))


def test_o1_late_before_the_hour_is_final_only_the_difference_is_posted(east: East) -> None:
    running(east)
    east.categorize("01:05")
    assert total(east, "00:00", "01:00")["productive"] == 1
    east.say("01:06", state("00:45", "ended"))
    assert total(east, "00:00", "01:00")["productive"] == Fraction(3, 4)
    assert east.goodput("00:00", "01:00").revised_at is None
    sound(east, "01:07")


def test_o2_late_after_the_hour_is_final_it_is_shown_as_revised(east: East) -> None:
    running(east)
    east.categorize("05:00")
    assert east.goodput("00:00", "01:00").complete
    east.say("05:01", state("00:45", "failed"), state("00:50", "running"))
    answer = east.goodput("00:00", "01:00")
    assert answer.revised_at == at("05:01")
    assert gpu_hours(answer.total)["failure"] == Fraction(1, 12)
    assert east.goodput("02:00", "03:00").revised_at is None
    sound(east, "05:02")


def test_o3_older_than_what_is_kept_is_refused_and_kept_apart(east: East) -> None:
    receipt = east.say("00:00", state("-9700:00", "running", gpus=8))
    assert [(one.field, one.error) for one in receipt.refused] == [("at", "too_old")]
    assert Refused.objects.get().error == "too_old"
    assert not State.objects.exists()


def test_o4_the_same_twice_is_a_duplicate_and_other_content_another_fact(east: East) -> None:
    told = state("00:00", "running", gpus=2)
    assert [east.say("00:01", told).duplicate, east.say("00:02", told, told).duplicate] == [0, 2]
    assert east.say("00:03", told | {"gpus": 4}).duplicate == 0
    east.categorize("01:00")
    assert total(east, "00:00", "01:00")["productive"] == 4
    sound(east, "01:01")


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_o5_any_order_of_arrival_is_the_same_ledger(east: East, order: tuple[int, ...]) -> None:
    states = [
        state("00:00", "pending", gpus=2),
        state("00:30", "running", machine="m1"),
        state("01:30", "stopping", reason="preemption"),
        state("01:45", "pending"),
    ]
    for place in order:
        east.say("02:00", states[place])
    east.categorize("03:00")
    assert total(east, "00:00", "03:00") == {
        "waiting": 1, "productive": 2, "preemption": 3, "unobserved": Fraction(2 * 180 - 2 * 5, 60),
    }  # fmt: skip
    sound(east, "03:01")


def test_o6_ahead_by_more_than_two_minutes_is_refused_by_less_it_waits(east: East) -> None:
    receipt = east.say("00:00", state("00:02", "running", gpus=60), state("00:02:00.001", "ended"))
    assert [(one.index, one.error) for one in receipt.refused] == [(1, "future")]
    assert not Span.objects.exists()
    east.categorize("00:03")
    assert Span.objects.get().until is None
    with pytest.raises(BadBatch, match="sent_at is more than 2 minutes ahead"):
        east.send("00:03", sent_at=reading("00:05:00.001")["at"])


def test_o7_before_a_life_and_after_it_nothing_is_counted(east: East) -> None:
    """What is said before the first phase or after the end is kept and folded; only a phase begins a life."""
    east.say(
        "06:00",
        state("00:00", gpus=4, machine="m1"),
        state("01:00", "running"),
        state("02:00", "ended"),
        state("03:00", gpus=8),
        state("05:00", "running"),
    )
    east.categorize("06:00")
    assert [held(east.goodput(f"{hour:02}:00", f"{hour + 1:02}:00").total) for hour in range(6)] == [0, 4, 0, 0, 0, 8]


def test_o8_a_source_that_is_away_for_an_hour_is_carried_and_unobserved(east: East) -> None:
    running(east)
    east.send("00:00", readings=[reading("00:00", gpu_busy=90)])
    east.categorize("01:00")
    assert total(east, "00:00", "01:00") == {"productive": 1, "unobserved": Fraction(55, 60)}
    east.say(
        "01:00",
        state("00:20", "failed"),
        state("00:30", "running", attempt=2),
        seen_from=state("00:00")["at"],
        readings=[reading("01:00", gpu_busy=1, since="00:30")],
    )
    east.categorize("01:01")
    assert total(east, "00:00", "01:00") == {
        "productive": Fraction(50, 60), "failure": Fraction(10, 60), "unobserved": Fraction(15, 60),
    }  # fmt: skip
    sound(east, "01:02")


def test_o10_a_list_is_truth_and_older_events_after_it_change_nothing_later(east: East) -> None:
    east.say("01:00", state("00:00", "running", gpus=1), state("00:40", "failed"), complete=True)
    east.say("01:01", state("00:20", "stopping"), state("00:30", "running"))
    east.categorize("02:00")
    assert total(east, "01:00", "02:00")["failure"] == 1
    assert total(east, "00:00", "01:00")["failure"] == Fraction(1, 3)
    sound(east, "02:01")


@pytest.mark.parametrize("proof", ["00:30", "00:40"])
def test_o11_o21_a_worker_deleted_unseen_ended_at_its_last_proof(east: East, proof: str) -> None:
    """Two lists lack it: what was counted past the last that had it, or its last state, is taken back."""
    told = [state("00:00", "running", gpus=1)]
    east.say("00:30", *told, complete=True)
    if proof == "00:40":
        east.say("00:41", state("00:40", gpus=1))
    east.send("02:00", complete=True)
    east.categorize("02:00")
    assert held(east.goodput("00:00", "02:00").total) == 2
    east.send("02:00:30", complete=True)
    assert held(east.goodput("00:00", "02:00").total) == Fraction(at(proof) - MONDAY, 3_600_000)
    sound(east, "02:01")


def test_o11_a_list_that_failed_closes_nothing(east: East) -> None:
    running(east)
    east.say("00:10", state("00:00", "running", gpus=1), complete=True)
    for moment in ("00:20", "00:30", "00:40"):
        east.send(moment, complete=False)
    assert held(east.goodput("00:00", "01:00").total) == 1
    assert Span.objects.get().until is None


def test_o12_a_list_that_comes_back_empty_closes_nothing_until_it_is_confirmed(east: East) -> None:
    names = [f"w{k}" for k in range(12)]
    running(east, *names)
    told = [state("00:00", "running", name, gpus=1) for name in names]
    east.say("00:01", *told, complete=True)
    for moment in ("00:02", "00:03", "00:10"):
        east.send(moment, complete=True)
    assert Span.objects.filter(until__isnull=True).count() == 12
    assert Source.objects.get().held_since is not None
    east.say("00:11", *told, complete=True)
    assert Source.objects.get().held_since is None
    east.categorize("01:00")
    assert held(east.goodput("00:00", "01:00").total) == 12
    sound(east, "01:01")


def test_o13_a_renamed_run_is_the_same_run(east: East) -> None:
    running(east)
    run = Run.objects.get().pk
    east.send("01:00", runs=[RUN | {"name": "llm-v2"}])
    east.categorize("02:00")
    rows = east.goodput("00:00", "02:00").rows
    assert [(row.name, row.uid, held(row.ledger)) for row in rows] == [("llm-v2", "run-1", 2)]
    assert Run.objects.get().pk == run


def test_o14_a_reused_name_is_another_run(east: East) -> None:
    runs = [RUN, RUN | {"uid": "run-2"}]
    east.send(
        "02:00",
        runs=runs,
        workers=[
            state("00:00", "running", gpus=1),
            state("01:00", "ended"),
            state("01:00", "running", run="run-2", gpus=3),
        ],
    )
    east.categorize("02:00")
    assert {row.uid: held(row.ledger) for row in east.goodput("00:00", "02:00").rows} == {"run-1": 1, "run-2": 3}
    assert held(east.goodput("00:00", "02:00", run="run-2").total) == 3
    assert held(east.goodput("00:00", "02:00", run="llm").total) == 4


def test_o15_a_pod_that_is_made_again_under_its_name_restarts(east: East) -> None:
    east.say(
        "01:00",
        state("00:00", "starting", gpus=1),
        state("00:10", "running"),
        state("00:20", "failed"),
        state("00:30", "pending", attempt=2),
        state("00:40", "starting"),
        state("00:50", "running"),
    )
    east.categorize("01:00")
    sixth = Fraction(1, 6)
    found = total(east, "00:00", "01:00")
    assert {name: found[name] for name in ("starting", "productive", "failure", "restart")} == {
        "starting": sixth, "productive": 2 * sixth, "failure": 2 * sixth, "restart": sixth,
    }  # fmt: skip
    assert "waiting" not in found


def test_o16_gpus_that_change_within_an_attempt_are_each_counted_for_their_time(east: East) -> None:
    running(east, gpus=8)
    east.say("01:00", state("00:30", gpus=2.5))
    east.say("01:10", state("00:45", gpus=0), state("00:50", gpus=4))
    east.categorize("02:00")
    assert held(east.goodput("00:00", "01:00").total) == 4 + Fraction("2.5") / 4 + Fraction(4, 6)
    sound(east, "02:01")


def test_o17_more_gpus_than_the_machine_has_are_counted_and_flagged(east: East) -> None:
    running(east, "w0", "w1", gpus=8, machine="m1")
    east.send("00:00", machines=[{"name": "m1", "gpus": 8}, {"name": "m2", "gpus": 8}])
    assert sound(east, "02:00") == [
        f"machine m1 hour {MONDAY + hour * 3_600_000}: held {16 * 3_600_000_000} of {8 * 3_600_000_000} GPU-µs"
        for hour in range(2)
    ]
    assert held(east.goodput("00:00", "02:00").total) == 32


@pytest.mark.parametrize(
    ("value", "category"),
    [
        (5, "productive"), (5.0, "productive"), (4.999, "idle"), (4.9999, "idle"), (0, "idle"), (100, "productive"),
        ("N/A", "unmeasured"), (None, "unmeasured"), (BLANK, "unmeasured"),
    ],
)  # fmt: skip
def test_o19_five_percent_is_busy_and_no_reading_is_not_zero(east: East, value: Any, category: str) -> None:
    running(east)
    east.send("00:00", readings=[reading("00:00", gpu_busy=value)])
    east.categorize("01:00")
    found = total(east, "00:00", "01:00")
    assert found["idle" if category == "idle" else "productive"] == 1
    assert found["unobserved"] == (1 if category == "unmeasured" else Fraction(55, 60))


@pytest.mark.parametrize("value", [-1, 101, 100.001, -0.001, True, "90"])
def test_o19_what_is_no_percentage_is_refused(east: East, value: Any) -> None:
    running(east)
    receipt = east.send("00:00", readings=[reading("00:00", gpu_busy=value), reading("00:00", "w1", gpu_busy=1)])
    assert [(one.list, one.index, one.field) for one in receipt.refused] == [("readings", 0, "gpu_busy")]


def test_o20_a_start_after_its_end_is_taken_as_sent_and_never_negative(east: East) -> None:
    """A skewed node: it ended before it ran. The end ends nothing; what runs afterwards runs until it is gone."""
    east.say("01:00", state("00:30", "running", gpus=1), state("00:20", "ended"), complete=True)
    east.categorize("01:00")
    assert held(east.goodput("00:00", "01:00").total) == Fraction(1, 2)
    east.send("01:10", complete=True)
    east.send("01:11", complete=True)
    east.categorize("02:00")
    assert held(east.goodput("00:00", "02:00").total) == Fraction(1, 2)
    assert all(amount >= 0 for row in LedgerHour.objects.values_list("productive") for amount in row if amount)
    sound(east, "02:01")


def test_o22_a_life_over_every_edge_is_the_sum_of_its_windows(east: East) -> None:
    """From Friday 22:17:03.001 over a day, a week's end and hours: windows of any cut sum to the whole."""
    east.cluster.refresh_from_db()
    east.say("118:17:03.001", state("118:17:03.001", "running", gpus=0.142, machine="m1"))
    east.say("171:40:00.999", state("171:40:00.999", "ended"))
    east.categorize("200:00")
    whole = east.goodput("118:00", "192:00").total
    assert whole.allocated == 142 * (at("171:40:00.999") - at("118:17:03.001"))
    for step in (1, 5, 24, 37):
        edges = [*range(118, 192, step), 192]
        parts = [east.goodput(f"{a}:00", f"{b}:00").total for a, b in zip(edges, edges[1:], strict=False)]
        assert sum(part.allocated for part in parts) == whole.allocated
        assert sum(part.unobserved for part in parts) == whole.unobserved
    assert by(east, "machine", "118:00", "192:00").keys() == {"m1"}
    sound(east, "200:01")


@pytest.mark.parametrize(
    "states",
    [
        [state("00:10", "running", gpus=8), state("00:10", "ended")],
        [state("00:10", "running", gpus=0), state("00:50", "ended")],
        [state("00:10", "running"), state("00:50", "ended")],
    ],
    ids=["no time", "no GPUs", "GPUs never said"],
)
def test_o23_nothing_held_is_no_row_and_no_division_by_zero(east: East, states: list[dict[str, Any]]) -> None:
    east.say("01:00", *states)
    east.categorize("02:00")
    answer = east.goodput("00:00", "02:00")
    assert (answer.rows, answer.total.asked, answer.total.goodput, answer.total.biggest_loss) == ((), 0, None, None)
    assert not LedgerHour.objects.exists()
    sound(east, "02:01")


def test_o23_only_waiting_has_no_goodput(east: East) -> None:
    east.say("00:00", state("00:00", "pending", gpus=8))
    east.categorize("02:00")
    answer = east.goodput("00:00", "02:00").total
    assert (answer.goodput, answer.amounts[Category.WAITING] // 3_600_000_000) == (None, 16)


def test_o1_a_late_step_tells_in_a_stay_that_is_over(east: East) -> None:
    """One hangs, and its mate, which told nothing, with it; then comes what the mate told before it ended."""
    east.say(
        "00:20",
        *(state("00:00", "running", name, gpus=60) for name in ("w0", "w1")),
        state("00:10", "ended", "w1"),
        readings=[reading("00:00", step=0), reading("00:15", step=0)],
    )
    east.categorize("00:30")
    east.say("00:30", state("00:20", "ended"))
    east.send("00:31", readings=[reading("00:05", "w1", step=7)])
    sound(east, "01:00")
    assert total(east, "00:00", "01:00") == {"stalled": 20 + 5, "productive": 5, "unobserved": 30}
