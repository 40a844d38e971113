"""Cases that users of other systems reported, through the real ingest and the real queries: each by its id."""

from fractions import Fraction
from typing import Any

import pytest

from ledger.categorizer import categorize
from ledger.core.categories import Category
from ledger.models import LedgerHour
from ledger.rules import set_rule
from tests.evidence import Settings
from tests.faults.east import by, gpu_hours, held, sound, total
from tests.faults.scripted import ScriptedClock
from tests.faults.sessions import together
from tests.ledger.conftest import East, reading, state
from tests.postgres_world import make_cluster
from tests.tables import at
from tests.worlds import MONDAY


@pytest.fixture
def east(db: None) -> East:
    return East(make_cluster(Settings(), MONDAY))


def run(uid: str, workspace: str = "vision", name: str = "llm") -> dict[str, Any]:
    return {"workspace": workspace, "uid": uid, "name": name, "user": "ana"}


def test_r05_a_name_in_two_workspaces_is_two_runs(east: East) -> None:
    """R05, opencost#4041: a map of uids keyed by the pod's name, ignoring its namespace, mixed two teams' pods.

    `database-0` of team-a (1 GPU) and of team-b (8 GPUs): each has its own hours and uid, stable over refreshes.
    """
    runs = [run("uid-a", "team-a", "database"), run("uid-b", "team-b", "database")]
    pods = [
        state("00:00", "running", "database-0", run="uid-a", gpus=1),
        state("00:00", "running", "database-0", run="uid-b", gpus=8),
    ]
    for moment in ("00:10", "00:40", "01:20"):
        east.send(moment, runs=runs, workers=pods[:: 1 if moment != "00:40" else -1], complete=True)
    east.categorize("02:00")
    rows = east.goodput("00:00", "02:00").rows
    assert {(row.uid, row.name, row.workspace): held(row.ledger) for row in rows} == {
        ("uid-a", "database", "team-a"): 2,
        ("uid-b", "database", "team-b"): 16,
    }
    assert by(east, "workspace", "00:00", "02:00")["team-a"]["productive"] == 2


def test_r07_a_machine_that_reports_no_capacity_has_no_negative_rest(east: East) -> None:
    """R07, kubecost#1978: with a virtual-GPU plug-in the node's capacity is 0 and its idle GPUs became negative.

    A worker holds 1 GPU there: the run is counted, nothing is negative, the machine is flagged and not clipped.
    """
    east.say(
        "00:00", state("00:00", "running", gpus=1, machine="m1"), machines=[{"name": "m1", "gpus": 0, "ready": True}]
    )
    assert sound(east, "01:00") == ["machine m1 hour 1790553600000: held 3600000000 of 0 GPU-µs"]
    assert total(east, "00:00", "01:00")["productive"] == 1
    assert all(amount >= 0 for amount in east.goodput("00:00", "01:00").total.amounts)


def test_r09_a_request_that_appears_twice_is_one(east: East) -> None:
    """R09, opencost PR 2987: a GPU request that stood in two series was counted twice.

    Two sources tell the same 8 GPUs of one worker: 8, not 16.
    """
    for source in ("kube-state-metrics", "kubelet"):
        east.say("00:00", state("00:00", "running", gpus=8, machine="m1"), source=source)
    east.categorize("01:00")
    assert total(east, "00:00", "01:00")["productive"] == 8
    assert sound(east, "01:00") == []


@pytest.mark.parametrize(("slices", "share"), [(4, 0.25), (7, 0.142)])
def test_r11_slices_of_a_card_never_exceed_it(east: East, slices: int, share: float) -> None:
    """R11, opencost PR 2862: with time slicing (`gpu.replicas=4`) one card with four pods counted as four GPUs.

    Each pod is its share of the card, all busy for an hour: at most 1 GPU-hour on that machine.
    """
    pods = [state("00:00", "running", f"pod-{k}", gpus=share, machine="m1") for k in range(slices)]
    busy = [reading("00:00", f"pod-{k}", gpu_busy=100) for k in range(slices)]
    east.say("00:00", *pods, readings=busy, machines=[{"name": "m1", "gpus": 1}])
    assert sound(east, "01:00") == []
    machine = by(east, "machine", "00:00", "01:00")["m1"]
    assert machine["productive"] == slices * Fraction(str(share)) <= 1


@pytest.mark.parametrize("policy", [Category.PRODUCTIVE, Category.IDLE])
def test_r13_workers_without_a_metric_are_unknown_not_idle(east: East, policy: Category) -> None:
    """R13, dcgm-exporter#307: of the pods that share a GPU only one has a metric.

    The other three count as the cluster says (by default productive), and as unobserved.
    """
    set_rule(east.cluster.pk, unmeasured_as=policy, now=at("00:00"))
    pods = [state("01:00", "running", f"pod-{k}", gpus=0.25, machine="m1") for k in range(4)]
    east.say("01:00", *pods, readings=[reading("01:00", "pod-0", gpu_busy=80)])
    for minute in range(5, 60, 5):
        east.send(f"01:{minute:02}", readings=[reading(f"01:{minute:02}", "pod-0", gpu_busy=80)])
    east.categorize("02:00")
    unknown = {"productive": 1} if policy is Category.PRODUCTIVE else {"productive": 0.25, "idle": 0.75}
    assert total(east, "01:00", "02:00") == {**unknown, "unobserved": 0.75}


def test_r15_a_gpu_under_three_label_sets_is_one(east: East) -> None:
    """R15, dcgm-exporter#237: a pod that is rebuilt leaves one GPU in three label sets within an hour.

    One worker, three attempts on one machine, a reading under each: the hour has at most 1 GPU-hour.
    """
    for attempt, begin in enumerate(("00:00", "00:20", "00:40"), 1):
        east.say(
            begin,
            state(begin, "running", gpus=1, machine="m1", attempt=attempt),
            readings=[reading(begin, gpu_busy=70 + attempt)],
            machines=[{"name": "m1", "gpus": 1}],
        )
    assert sound(east, "01:00") == []
    assert total(east, "00:00", "01:00")["productive"] == 1


def test_r19_gpus_held_without_a_process_are_idle_and_shown_first(east: East) -> None:
    """R19, slurm-job-exporter#65: GPUs that are allocated and have no process are invisible.

    8 GPUs at 0 % for 3 h: 24 GPU-hours idle, first in the list of what was lost.
    """
    runs = [run("run-1"), run("busy-1"), run("busy-2")]
    workers = [
        state("00:00", "running", gpus=8),
        *(state("00:00", "running", run=uid, gpus=16) for uid in ("busy-1", "busy-2")),
    ]
    readings = [reading("00:00", gpu_busy=0), *(reading("00:00", run=u, gpu_busy=99) for u in ("busy-1", "busy-2"))]
    east.send("00:00", runs=runs, workers=workers, readings=readings)
    east.categorize("03:00")
    rows = east.goodput("00:00", "03:00").rows
    assert [row.uid for row in rows] == ["run-1", "busy-1", "busy-2"]
    assert gpu_hours(rows[0].ledger)["idle"] == 24
    assert rows[0].ledger.biggest_loss is Category.IDLE


def test_r21_minutes_before_the_first_sample_are_not_idle(east: East) -> None:
    """R21, dstack#2384: in a short window there are "not enough samples", for ever.

    The first sample comes 3 minutes after the worker runs, and says idle: idle from there on, not before.
    """
    east.say("00:00", state("00:00", "running", gpus=60))
    east.send("00:03", readings=[reading("00:03", gpu_busy=1)])
    east.categorize("01:00")
    assert total(east, "00:00", "01:00") == {"productive": 3, "idle": 57, "unobserved": 3 + 52}


def test_r23_a_busy_gpu_that_nobody_holds_is_in_no_ledger(east: East) -> None:
    """R23, lium-io PR 1142: a process that died left 100 % reported for days.

    A reading of a worker that has no state, and one of a worker that has ended: no time is counted for either.
    """
    east.say("01:00", state("00:00", "running", gpus=1), state("01:00", "ended"))
    for hour in range(1, 30):
        moment = f"{hour:02}:00"
        east.send(moment, readings=[reading(moment, gpu_busy=100), reading(moment, "ghost", gpu_busy=100)])
    assert sound(east, "30:00") == []
    assert total(east, "00:00", "30:00")["productive"] == 1


def test_r33_two_counts_at_the_same_instant_count_once(clock: ScriptedClock) -> None:
    """R33, django-celery-beat#319, celery#4041: the scheduler sends a task twice, and both run at once.

    Two categorizers overlap each half hour of a day: every minute is counted once.
    """
    east = East(make_cluster(Settings(), MONDAY))
    east.say("00:00", state("00:00", "running", gpus=2))
    for half in range(1, 51):
        clock.set(MONDAY + half * 1_800_000)
        together([lambda: categorize(east.cluster), lambda: categorize(east.cluster)])
    assert total(east, "00:00", "25:00")["productive"] == 50
    assert sound(east, "25:00") == []


def test_r37_only_the_window_is_counted(east: East) -> None:
    """R37, hpc-cost-simulator#72, mrbs-code#1408: hours outside the window were included.

    A run from 08:00 to 14:00 asked for 10:00 to 12:00: 2 hours.
    """
    east.say("14:00", state("08:00", "running", gpus=1), state("14:00", "ended"))
    east.categorize("15:00")
    assert total(east, "10:00", "12:00")["productive"] == 2
    assert total(east, "00:00", "10:00")["productive"] + total(east, "12:00", "24:00")["productive"] == 4


@pytest.mark.parametrize("said", [{"phase": "ended", "reason": "owner"}, {"phase": "pending", "reason": "owner"}])
def test_r39_a_run_that_is_suspended_holds_nothing(east: East, said: dict[str, str]) -> None:
    """R39, skypilot#2769: a stopped cluster's duration kept growing.

    Suspended at 02:00, its object kept for 14 h: held stops when the pods are gone.
    """
    east.say("00:00", state("00:00", "running", gpus=8, machine="m1"))
    east.say("02:00", state("02:00", **said))
    for hour in range(3, 17):
        east.send(f"{hour:02}:00")
    east.categorize("16:00")
    answer = east.goodput("00:00", "16:00")
    assert held(answer.total) == 16
    assert gpu_hours(answer.total).get("waiting", 0) == (8 * 14 if said["phase"] == "pending" else 0)


def test_r41_a_resumed_run_is_the_sum_of_its_parts(east: East) -> None:
    """R41, wandb#4325, comet-ml#372: a resumed run's duration was its last part, or its end less its start.

    It runs from 00:00 to 01:00 and from 11:00 to 12:00 under one uid: 2 hours held, not 1 and not 12.
    """
    east.say("01:00", state("00:00", "running", gpus=1), state("01:00", "ended"))
    east.say("12:00", state("11:00", "running", attempt=2), state("12:00", "ended"))
    east.categorize("13:00")
    answer = east.goodput("00:00", "13:00")
    assert [held(row.ledger) for row in answer.rows] == [2]
    assert LedgerHour.objects.count() == 2
