"""The minute's look at stragglers on Postgres, and the stall of the same gang: what is shown, and what is counted."""

import csv
from collections.abc import Iterable

import pytest
from django.core.management import call_command

from ledger import queries
from ledger.access import scope_of_organization
from ledger.models import Straggle, Worker
from ledger.rules import set_thresholds
from ledger.straggling import look
from tests.core.test_stragglers import TRACE
from tests.ledger.conftest import East, hours, reading, state
from tests.ledger.test_ingest import amounts
from tests.tables import at

GANG = ("w0", "w1", "w2", "w3")


def minute(number: int) -> str:
    return f"{number // 60:02}:{number % 60:02}"


def start(east: East) -> None:
    east.say(
        "00:00",
        *(state("00:00", "running", worker, gpus=8, machine=f"gpu-{worker}", pool="h100") for worker in GANG),
    )


def play(east: East, minutes: Iterable[int], paces: dict[str, float]) -> None:
    """Tell a step each minute, all in step, and look."""
    for number in minutes:
        now = minute(number)
        readings = [
            reading(now, worker, step=number, step_seconds=paces.get(worker, 1), gpu_busy=100) for worker in GANG
        ]
        east.send(now, readings=readings)
        look(east.cluster, now=at(now))


def now_of(east: East) -> list[tuple[str, str, int, int]]:
    found = queries.stragglers_now(scope_of_organization(east.cluster.organization))
    return [(one.worker, one.machine, one.slower_milli, one.cost_milli) for one in found]


def test_a_slow_worker_is_one_when_it_was_for_three_minutes(east: East) -> None:
    start(east)
    play(east, range(1, 6), {"w2": 2})
    assert now_of(east) == []
    play(east, range(6, 8), {"w2": 2})
    assert now_of(east) == []
    play(east, [8], {"w2": 2})
    assert now_of(east) == [("w2", "gpu-w2", 2_000, 16_000)]
    (found,) = queries.stragglers_now(scope_of_organization(east.cluster.organization))
    assert (found.run, found.since, found.step, found.step_ms, found.gang_ms) == ("llm", at("00:05"), 8, 2_000, 1_000)
    play(east, range(9, 13), {})
    assert now_of(east) == []
    assert [(row.confirmed, row.until is not None) for row in Straggle.objects.all()] == [(True, True)]


def test_what_is_slow_for_a_moment_leaves_nothing(east: East) -> None:
    start(east)
    play(east, range(1, 6), {"w2": 2})
    play(east, range(6, 12), {})
    assert Straggle.objects.count() == 0


def test_looking_twice_is_looking_once(east: East) -> None:
    start(east)
    play(east, range(1, 9), {"w1": 3})
    rows = list(Straggle.objects.values_list())
    assert look(east.cluster, now=at("00:08")) == (1, 1)
    assert list(Straggle.objects.values_list()) == rows


def test_who_says_nothing_more_is_no_straggler_any_more(east: East) -> None:
    start(east)
    play(east, range(1, 9), {"w1": 3})
    look(east.cluster, now=at("00:14"))
    assert now_of(east) == []


def test_the_ratio_is_a_setting_of_the_cluster(east: East) -> None:
    set_thresholds(east.cluster.pk, straggler_milli=1_100)
    east.cluster.refresh_from_db()
    start(east)
    play(east, range(1, 9), {"w1": 1.15})
    assert [worker for worker, *_ in now_of(east)] == ["w1"]


def test_step_times_of_before_a_restart_are_forgotten(east: East) -> None:
    start(east)
    play(east, range(1, 9), {"w1": 3})
    east.say("00:08", state("00:08", "failed", "w1"))
    east.say("00:09", state("00:09", "running", "w1", attempt=2, machine="gpu-9"))
    play(east, [10], {})
    assert now_of(east) == []
    assert Worker.objects.get(name="w1").recent == [1_000]
    play(east, range(11, 19), {})
    assert now_of(east) == []


def test_who_repeats_its_step_while_the_others_go_on_is_behind_then_stalled_from_its_last_progress(east: East) -> None:
    start(east)
    play(east, range(1, 6), {})
    for number in range(6, 20):
        now = minute(number)
        steps = {worker: 5 if worker == "w3" else number for worker in GANG}
        east.send(now, readings=[reading(now, w, step=s, step_seconds=1, gpu_busy=100) for w, s in steps.items()])
        look(east.cluster, now=at(now))
        if number == 11:
            assert [worker for worker, *_ in now_of(east)] == ["w3"]
    assert queries.stragglers_now(scope_of_organization(east.cluster.organization))[0].behind == 14
    assert [worker.worker for worker in queries.stalled_now(scope_of_organization(east.cluster.organization))] == ["w3"]
    east.categorize("01:00")
    assert amounts(east, "00:00", "01:00") == hours(productive=24 + 8 * 5 / 60, stalled=8 * 55 / 60)


def test_a_machine_tells_in_how_many_of_its_last_runs_it_straggled(east: East) -> None:
    start(east)
    play(east, range(1, 9), {"w2": 2})
    scope = scope_of_organization(east.cluster.organization)
    history = queries.straggle_history(scope, ["gpu-w2", "gpu-w1", "gpu-404"])
    assert history == {"gpu-w2": (1, 1), "gpu-w1": (1, 0)}
    assert queries.straggle_history(scope, []) == {}
    assert queries.scrape(scope, at("00:09")).straggling == {"vision": 1}


@pytest.mark.parametrize(("ratio", "wanted"), [("1.095", {"w0"}), (None, set())])
def test_worker_0_of_a_real_job_is_named_and_no_other(east: East, ratio: str | None, wanted: set[str]) -> None:
    """Its mini-batch times, ten seconds apart, as step times; looked at each minute. It is a tenth slower."""
    if ratio:
        call_command("set_cluster", east.cluster.organization.name, east.cluster.name, "--straggler-ratio", ratio)
        east.cluster.refresh_from_db()
    workers = [f"w{number}" for number in range(10)]
    east.say("00:00", *(state("00:00", "running", worker, gpus=1, machine=f"gpu-{worker}") for worker in workers))
    named: set[str] = set()
    rows = list(csv.DictReader(TRACE.read_text().splitlines()))
    for number in range(1, 51):
        told = [row for row in rows if (number - 1) * 60 <= int(row["time"]) < number * 60]
        said = sorted(told, key=lambda row: int(row["time"]))
        readings = [
            reading(
                f"{int(row['time']) // 3600:02}:{int(row['time']) // 60 % 60:02}:{int(row['time']) % 60:02}",
                f"w{row['worker']}",
                step=int(row[""]) // 10,
                step_seconds=int(row["batch_time_norm"]) / 1000,
            )
            for row in said
        ]
        east.send(minute(number), readings=readings)
        look(east.cluster, now=at(minute(number)))
        named |= {worker for worker, *_ in now_of(east)}
    assert named == wanted
