"""Evaluation on Postgres: each final hour once, one open alert a subject, nothing backwards."""

from functools import partial
from random import Random

import pytest
from django.db import IntegrityError, transaction

from ledger.alerts import evaluate
from ledger.attention import silence
from ledger.core.alerting import Limits, Spent, Verdict, judge
from ledger.core.windows import HOUR
from ledger.models import Alert, Cluster, Run, Source
from tests.alerts.hours import GPU_HOUR, LATER, Judged
from tests.faults.sessions import together
from tests.ledger.conftest import East, reading, state
from tests.postgres_world import moment
from tests.tables import at
from tests.worlds import MONDAY


@pytest.fixture
def judged(db: None) -> Judged:
    return Judged()


def firing(rule: str = "goodput_drop") -> set[str]:
    return {alert.name for alert in Alert.objects.filter(rule=rule, resolved_at=None)}


@pytest.mark.django_db
def test_a_drop_fires_for_the_workspace_and_its_pool_and_ends_with_a_fine_hour(judged: Judged) -> None:
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, 4 * GPU_HOUR)
    judged.write(25, 10 * GPU_HOUR, 9 * GPU_HOUR)
    assert judged.final(24) == (24, 0, 0)
    assert judged.final(25) == (1, 2, 0)
    assert firing() == {"vision", "h100"}
    assert judged.final(25) == (0, 0, 0)
    alert = Alert.objects.get(name="vision")
    assert alert.hour == moment(MONDAY + 24 * HOUR)
    assert (alert.detail["productive"], alert.detail["held"]) == (4 * GPU_HOUR, 10 * GPU_HOUR)
    assert judged.final(26) == (1, 0, 2)
    assert firing() == set()


@pytest.mark.django_db
def test_the_hour_that_runs_is_never_judged(judged: Judged) -> None:
    """12:05, the running hour at 10 %, the last full one at 90 %."""
    judged.day(0.9)
    judged.write(24, GPU_HOUR, GPU_HOUR // 10)
    assert judged.final(24) == (24, 0, 0)
    assert firing() == set()


@pytest.mark.django_db
def test_a_bad_day_is_one_alert(judged: Judged) -> None:
    judged.day(0.9)
    for hour in range(24, 60):
        judged.write(hour, 10 * GPU_HOUR, GPU_HOUR)
    fired = sum(judged.final(hours).fired for hours in range(24, 49))
    assert fired == 2
    assert Alert.objects.count() == 2


@pytest.mark.django_db
def test_hours_that_hold_nothing_leave_an_alert_for_a_day(judged: Judged) -> None:
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, GPU_HOUR)
    assert judged.final(25).fired == 2
    for hours in range(26, 49):
        assert judged.final(hours).resolved == 0
    assert judged.final(49).resolved == 2


@pytest.mark.django_db
def test_what_is_filled_in_later_fires_nothing(judged: Judged) -> None:
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, 9 * GPU_HOUR)
    judged.write(25, 10 * GPU_HOUR, 9 * GPU_HOUR)
    judged.final(26)
    judged.write(24, 10 * GPU_HOUR, 0)
    judged.write(25, 10 * GPU_HOUR, 0)
    assert judged.final(26) == (0, 0, 0)
    assert firing() == set()


@pytest.mark.django_db
def test_history_from_before_the_first_evaluation_fires_nothing(judged: Judged) -> None:
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, 0)
    Cluster.objects.update(judged_to=None)
    assert judged.final(25) == (0, 0, 0)
    assert firing() == set()


@pytest.mark.django_db
def test_after_a_long_outage_only_the_last_day_is_judged(judged: Judged) -> None:
    judged.day(0.9)
    for hour in range(24, 100):
        judged.write(hour, 10 * GPU_HOUR, 9 * GPU_HOUR if hour != 30 else 0)
    assert judged.final(100) == (24, 0, 0)


@pytest.mark.django_db
def test_a_cluster_of_less_than_a_day_is_not_judged(judged: Judged) -> None:
    for hour in range(23):
        judged.write(hour, 10 * GPU_HOUR, 9 * GPU_HOUR)
    judged.write(23, 10 * GPU_HOUR, 0)
    assert judged.final(24).fired == 0


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(12))
def test_an_alert_begins_exactly_where_the_predicate_says_so(judged: Judged, seed: int) -> None:
    """Random hours; the predicate is asked again of the integers themselves, in other words."""
    rng = Random(seed)
    spent = []
    for hour in range(60):
        held = rng.choice((0, GPU_HOUR - 1, GPU_HOUR, GPU_HOUR + 7, 3 * GPU_HOUR))
        productive = rng.choice((0, held // 3, held // 2, held // 2 - (held > 1), held * 7 // 10, held))
        spent.append(Spent(held, productive, rng.choice((0, held // 5, held // 5 + 1 if held else 0))))
        judged.write(hour, held, productive, spent[-1].unobserved)
    wanted, open_ = [], False
    for hour in range(24, 60):
        day = Spent(sum(s.held for s in spent[hour - 24 : hour]), sum(s.productive for s in spent[hour - 24 : hour]))
        verdict = judge(spent[hour], day, Limits())
        if verdict is Verdict.DROP and not open_:
            wanted.append(hour)
        open_ = verdict is Verdict.DROP or (open_ and verdict is not Verdict.FINE)
    for hours in range(1, 61):
        judged.final(hours)
    begun = [
        round(alert.hour.timestamp() * 1000 - MONDAY) // HOUR
        for alert in Alert.objects.filter(subject__startswith="workspace").order_by("hour")
    ]
    assert begun == wanted


def test_sixteen_evaluators_make_one_alert(transactional_db: None) -> None:
    judged = Judged()
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, GPU_HOUR)
    judged.final(24)
    now = MONDAY + 25 * HOUR + LATER
    Cluster.objects.filter(pk=judged.cluster.pk).update(
        final_to=moment(MONDAY + 25 * HOUR), counted_until=moment(now), pruned_at=moment(now)
    )
    Source.objects.create(cluster=judged.cluster, name="a", held_since=moment(now))
    together([partial(evaluate, judged.cluster.pk, now=now)] * 16)
    assert firing() == {"vision", "h100"}
    assert Alert.objects.count() == 3


@pytest.mark.django_db
def test_postgres_itself_refuses_a_second_open_alert(judged: Judged) -> None:
    judged.day(0.9)
    judged.write(24, 10 * GPU_HOUR, GPU_HOUR)
    judged.final(25)
    alert = Alert.objects.get(name="vision")
    alert.pk, alert.hour = None, moment(MONDAY)
    with pytest.raises(IntegrityError), transaction.atomic():
        alert.save(force_insert=True)


@pytest.mark.django_db
def test_a_silence_holds_when_the_alert_comes_back(judged: Judged) -> None:
    judged.day(0.9)
    for hour in (24, 26):
        judged.write(hour, 10 * GPU_HOUR, GPU_HOUR)
    judged.write(25, 10 * GPU_HOUR, 9 * GPU_HOUR)
    judged.final(25)
    first = Alert.objects.get(name="vision")
    silence(first.pk, 8)
    assert Alert.objects.get(name="vision").silenced_until is not None
    Alert.objects.filter(pk=first.pk).update(silenced_until=moment(MONDAY + 40 * HOUR))
    judged.final(26)
    judged.final(27)
    again = Alert.objects.filter(name="vision").latest("pk")
    assert again.pk != first.pk
    assert again.silenced_until == moment(MONDAY + 40 * HOUR)


# --- what is true now ---


def test_a_source_with_live_workers_that_is_silent_is_stale_until_it_speaks(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=8, machine="m"))
    evaluate(east.cluster.pk, now=at("00:05"))
    assert firing("source_stale") == set()
    evaluate(east.cluster.pk, now=at("00:10:00.001"))
    evaluate(east.cluster.pk, now=at("00:20"))
    assert firing("source_stale") == {"agent"}
    assert Alert.objects.filter(rule="source_stale").count() == 1
    east.say("00:30")
    evaluate(east.cluster.pk, now=at("00:31"))
    assert firing("source_stale") == set()


def test_a_silent_source_without_live_workers_is_none(east: East) -> None:
    east.say("00:01", state("00:00", "running", gpus=8, machine="m"), state("00:00:01", "ended"))
    evaluate(east.cluster.pk, now=at("05:00"))
    assert firing("source_stale") == set()


def test_a_ledger_that_is_late_and_a_prune(east: East) -> None:
    Cluster.objects.update(pruned_at=moment(at("00:00")))
    east.categorize("00:10")
    evaluate(east.cluster.pk, now=at("00:13"))
    assert firing("ledger_late") == set()
    evaluate(east.cluster.pk, now=at("00:13:00.001"))
    assert Alert.objects.filter(rule="ledger_late", resolved_at=None).count() == 1
    evaluate(east.cluster.pk, now=at("48:00"))
    assert Alert.objects.filter(rule="prune_late").count() == 0
    evaluate(east.cluster.pk, now=at("48:00:00.001"))
    assert Alert.objects.filter(rule="prune_late", resolved_at=None).count() == 1


def test_workers_that_vanish_all_at_once(east: East) -> None:
    names = [f"w{number}" for number in range(12)]
    running = [state("00:00", "running", name, gpus=1, machine="m") for name in names]
    east.send("00:01", workers=running, complete=True)
    east.send("00:02", workers=running[:3], complete=True)
    evaluate(east.cluster.pk, now=at("00:03"))
    assert firing("workers_vanished") == {"agent"}
    east.send("00:04", workers=running, complete=True)
    evaluate(east.cluster.pk, now=at("00:05"))
    assert firing("workers_vanished") == set()


@pytest.mark.parametrize(("busy", "verdict", "fires"), [(90, "pass", False), (1, "fail", True)])
def test_a_run_is_judged_when_it_is_over(east: East, busy: int, verdict: str, fires: bool) -> None:
    run = {"workspace": "vision", "uid": "run-1", "name": "llm", "user": "ana", "min_goodput": 0.85}
    east.send("00:00", runs=[run], workers=[state("00:00", "running", gpus=8, machine="m")],
              readings=[reading("00:00", gpu_busy=busy)])  # fmt: skip
    over = run | {"ended_at": "2026-09-28T00:50:00Z"}
    east.send("00:50", runs=[over], workers=[state("00:50", "ended")])
    east.categorize("01:05")
    evaluate(east.cluster.pk, now=at("01:05"))
    assert Run.objects.get().verdict == ""
    east.categorize("01:13")
    evaluate(east.cluster.pk, now=at("01:13"))
    assert Run.objects.get().verdict == verdict
    assert firing("run_below_threshold") == ({"llm"} if fires else set())
    evaluate(east.cluster.pk, now=at("25:14"))
    assert firing("run_below_threshold") == set()
    assert Alert.objects.filter(rule="run_below_threshold").count() == fires


def test_a_run_that_held_nothing_has_no_verdict_either_way(east: East) -> None:
    run = {"workspace": "vision", "uid": "run-1", "name": "llm", "min_goodput": 0.85}
    east.send("00:00", runs=[run | {"ended_at": "2026-09-28T00:10:00Z"}])
    east.categorize("01:13")
    evaluate(east.cluster.pk, now=at("01:13"))
    assert Run.objects.get().verdict == "no data"
    assert firing("run_below_threshold") == set()
