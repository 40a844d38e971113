"""One session stands still in the middle of its step while another does its own: the ledger is that of both."""

from functools import partial
from typing import Any

import pytest

from ledger import clock
from ledger.categorizer import categorize
from ledger.models import Cluster, DirtyDay, Run, Workspace
from ledger.rollups import _roll_up_day, roll_up
from tests.faults import scene
from tests.faults.interleaving import interleave
from tests.tables import at
from tests.worlds import iso

END = at("50:00:00.003")
FIRST = scene.batch(
    "20:00",
    workers=[
        ("r1/w0", "19:30", {"phase": "running", "gpus": 8, "machine": "m1"}),
        ("r1/w1", "19:30", {"phase": "running", "gpus": 2, "machine": "m1"}),
    ],
)


def said(moment: str, worker: str, source: str = "a", **facts: Any) -> Any:
    return scene.batch(moment, workers=[(worker, moment, facts)]) | {"source": source}


def sending(cluster: Cluster, now: str, sent: Any) -> Any:
    return partial(scene.deliver, cluster, now, sent)


@pytest.fixture
def east(transactional_db: None) -> Cluster:
    cluster = scene.make()
    scene.deliver(cluster, "20:00", FIRST)
    return cluster


@pytest.mark.parametrize("point", ["before load_spans", "before states_insert", "before cell_post", "before COMMIT"])
@pytest.mark.parametrize("worker", ["r1/w0", "r1/w1"])
def test_two_that_count_one_run_wait_for_each_other(east: Cluster, point: str, worker: str) -> None:
    one = said("20:10", "r1/w0", "b", phase="failed")
    two = said("20:05", worker, "c", gpus=4)
    assert interleave(sending(east, "20:10", one), point, sending(east, "20:11", two))
    scene.prove(east, [FIRST, one, two], END)


@pytest.mark.parametrize("point", ["before states_insert", "before load_spans", "before cell_post"])
def test_an_hour_closes_when_nobody_posts_into_it(east: Cluster, point: str) -> None:
    one = said("20:59", "r1/w0", phase="failed")
    assert interleave(sending(east, "20:59", one), point, partial(categorize, east, now=at("21:00")))
    scene.prove(east, [FIRST, one], END)


def test_what_posts_waits_for_an_hour_that_is_being_closed(east: Cluster) -> None:
    one = said("20:30", "r1/w0", phase="failed")
    closes = partial(categorize, east, now=at("21:00:01"))
    assert interleave(closes, "before hour_begin", sending(east, "21:00:02", one))
    scene.prove(east, [FIRST, one], END)


@pytest.mark.parametrize("point", ["before load_words", "before cell_post", "before COMMIT"])
def test_a_word_that_fills_a_gap_sees_what_is_counted_in_it_just_now(east: Cluster, point: str) -> None:
    """Source b says that a worker whose phase is source a's had GPUs, while a, naming nobody, watched all the time."""
    told = [
        FIRST,
        said("20:05", "r1/w0", phase="starting", gpus=0),
        scene.batch("20:46", workers=[("r1/w0", "20:20", {"gpus": 8})]) | {"source": "b"},
        scene.batch("20:50", seen_from=iso(at("20:00"))) | {"runs": []},
    ]
    scene.deliver(east, "20:05", told[1])
    categorize(east, now=at("20:45"))
    assert interleave(sending(east, "20:46", told[2]), point, sending(east, "20:50", told[3]))
    scene.prove(east, told, END)


def test_names_that_two_sessions_say_first_are_made_once(transactional_db: None) -> None:
    cluster = scene.make()
    one, two = (said("20:10", f"r1/{worker}", worker, phase="running", gpus=1, machine="m9") for worker in ("w0", "w1"))
    interleave(sending(cluster, "20:10", one), "before COMMIT", sending(cluster, "20:10", two))
    assert (Workspace.objects.count(), Run.objects.count()) == (1, 2)
    scene.prove(cluster, [one, two], END)


def two_days(cluster: Cluster) -> list[Any]:
    """A run of two days that are over, both of which have to be rolled up again."""
    late = said("45:00", "r1/w0", phase="running")
    scene.deliver(cluster, "45:00", late)
    categorize(cluster, now=at("50:00"))
    change = said("22:00", "r1/w0", machine="m2")
    scene.deliver(cluster, "50:00", change)
    assert DirtyDay.objects.count() == 2
    return [FIRST, late, change]


@pytest.mark.parametrize(
    "point", ["before dayrun_make", "before runtotal_clear", "before runtotal_make", "before COMMIT"]
)
def test_two_roll_ups_at_once_leave_the_totals_of_both_days(east: Cluster, point: str) -> None:
    """One makes the first day and then the second, the other the second meanwhile."""
    told = two_days(east)
    second = partial(_roll_up_day, day=at("24:00"))
    assert interleave(partial(roll_up, east.pk, END), point, partial(clock.post, east.pk, END, second))
    assert not DirtyDay.objects.exists()
    scene.prove(east, told, END)


@pytest.mark.parametrize("point", ["before dayrun_clear", "before runtotal_make", "before COMMIT"])
def test_a_correction_while_its_day_is_rolled_up_is_rolled_up_next(east: Cluster, point: str) -> None:
    told = two_days(east)
    more = said("22:30", "r1/w1", phase="ended")
    interleave(partial(roll_up, east.pk, END), point, sending(east, "50:00", more))
    scene.prove(east, [*told, more], END)


@pytest.mark.parametrize("point", ["before cluster_checked", "before workers_due", "before cluster_counted"])
def test_what_arrives_while_the_minute_is_counted_is_counted_too(east: Cluster, point: str) -> None:
    """The words of the source run out meanwhile, and a late one comes in."""
    one = said("20:03", "r1/w0", phase="stopping")
    scene.deliver(east, "20:04", one)
    two = said("20:20", "r1/w1", phase="failed")
    interleave(partial(categorize, east, now=at("20:20")), point, sending(east, "20:21", two))
    scene.prove(east, [FIRST, one, two], END)
