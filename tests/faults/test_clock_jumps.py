"""The database's clock steps back and forth (T13, T14): nothing is counted twice, or before it was, or on a jump."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from ledger import tasks, walltime
from ledger.access import scope_of_organization
from ledger.categorizer import categorize
from ledger.core.steady import ClockJump, Steady
from ledger.core.windows import Window
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, LedgerHour, Token
from ledger.queries import goodput
from tests.faults import scene
from tests.faults.scripted import ScriptedClock
from tests.ledger.conftest import hours
from tests.postgres_world import make_cluster
from tests.tables import at
from tests.worlds import MONDAY, iso


class Walls:
    """The database's clock, and the monotonic one that goes on beside it, both moved by the test."""

    def __init__(self, clock: ScriptedClock, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.monotonic = clock, 1_000_000
        monkeypatch.setattr(walltime, "_steady", Steady())
        monkeypatch.setattr(walltime.time, "monotonic_ns", lambda: self.monotonic * 1_000_000)

    def go_on(self, by: int) -> None:
        self.clock.tick(by)
        self.monotonic += by

    def step(self, by: int) -> None:
        self.clock.tick(by)


@pytest.fixture
def walls(clock: ScriptedClock, monkeypatch: pytest.MonkeyPatch) -> Walls:
    return Walls(clock, monkeypatch)


@pytest.fixture
def east(clock: ScriptedClock) -> Cluster:
    return make_cluster(scene.SETTINGS, MONDAY)


def say(cluster: Cluster, walls: Walls, moment: str, facts: dict[str, Any]) -> None:
    sent = scene.batch(moment, workers=[("r1/w0", moment, facts)])
    sent["sent_at"] = iso(min(at(moment), walls.clock.read()))
    ingest(cluster, decode(json.dumps(sent).encode(), "application/json"))


def counted(cluster: Cluster, end: str = "06:00") -> int:
    return goodput(scope_of_organization(cluster.organization), Window(MONDAY, at(end))).total.asked


MINUTE, HOUR = 60_000, 3_600_000


def test_t13_a_small_step_back_counts_nothing_until_time_has_passed_again(east: Cluster, walls: Walls) -> None:
    say(east, walls, "00:00", {"phase": "running", "gpus": 1})
    walls.go_on(30 * MINUTE)
    categorize(east)
    before = counted(east)
    walls.step(-5 * MINUTE)
    for _ in range(5):
        assert categorize(east).counted_until == at("00:30")
        assert counted(east) == before == hours(x=0.5)["x"]
        walls.go_on(MINUTE)
    walls.go_on(30 * MINUTE)
    assert categorize(east).counted_until == at("01:00")
    assert counted(east) == hours(x=1)["x"]


def test_t13_a_state_that_arrives_while_the_clock_is_back_is_counted_at_its_own_instant(
    east: Cluster, walls: Walls
) -> None:
    say(east, walls, "00:00", {"phase": "running", "gpus": 1})
    walls.go_on(61 * MINUTE)
    categorize(east)
    walls.step(-5 * MINUTE)
    say(east, walls, "00:56", {"phase": "ended"})
    categorize(east)
    assert counted(east) == hours(x=56 / 60)["x"]
    walls.go_on(3 * HOUR)
    told = [scene.batch("00:00", workers=[("r1/w0", "00:00", {"phase": "running", "gpus": 1})])]
    told.append(scene.batch("00:56", workers=[("r1/w0", "00:56", {"phase": "ended"})]))
    scene.prove(east, told, walls.clock.read())


@pytest.mark.parametrize("phase", ["failed", "ended"])
def test_t13_what_began_before_the_clock_stepped_back_is_never_negative(
    east: Cluster, walls: Walls, phase: str
) -> None:
    """Nothing was categorized since: a page that is drawn now must not be told an instant before what it counts."""
    say(east, walls, "00:00", {"phase": "running", "gpus": 1})
    walls.go_on(10 * MINUTE)
    say(east, walls, "00:10", {"phase": phase})
    walls.step(-5 * MINUTE)
    assert counted(east, "01:00") == hours(x=10 / 60)["x"]
    say(east, walls, "00:04", {"machine": "m1"})
    assert counted(east, "01:00") == hours(x=10 / 60)["x"]


def test_t13_words_that_had_run_out_before_the_clock_stepped_back_have_run_out(east: Cluster, walls: Walls) -> None:
    told = [scene.batch("00:00", workers=[("r1/w0", "00:00", {"phase": "pending", "gpus": 60})])]
    told.append(scene.batch("00:00", workers=[("r1/w0", "00:02", {"gpus": 120})]) | {"source": "b"})
    ingest(east, decode(scene.body(told[0]), "application/json"))
    walls.go_on(6 * MINUTE)
    categorize(east)
    walls.step(-3 * MINUTE)
    ingest(east, decode(scene.body(told[1]), "application/json"))
    walls.go_on(2 * HOUR)
    categorize(east)
    scene.prove(east, told, walls.clock.read())


@pytest.mark.parametrize("jump", [-2 * HOUR, 3 * HOUR])
def test_t14_a_jump_that_comes_back_never_counted(east: Cluster, walls: Walls, jump: int) -> None:
    say(east, walls, "00:00", {"phase": "running", "gpus": 1})
    walls.go_on(30 * MINUTE)
    categorize(east)
    walls.step(jump)
    with pytest.raises(ClockJump):
        categorize(east)
    with pytest.raises(ClockJump):
        say(east, walls, "00:30", {"phase": "ended"})
    assert not LedgerHour.objects.exists()
    walls.step(-jump)
    walls.go_on(10 * MINUTE)
    assert categorize(east).counted_until == at("00:40")
    assert counted(east) == hours(x=40 / 60)["x"]


def test_t14_a_jump_that_stays_is_confirmed_and_then_counts(east: Cluster, walls: Walls) -> None:
    say(east, walls, "00:00", {"phase": "running", "gpus": 1})
    walls.go_on(30 * MINUTE)
    categorize(east)
    walls.step(3 * HOUR)
    with pytest.raises(ClockJump):
        categorize(east)
    walls.go_on(MINUTE)
    assert categorize(east).counted_until == at("03:31")
    assert counted(east) == hours(x=3 + 31 / 60)["x"]


def test_t14_a_small_step_forth_and_back_waits_for_time_to_catch_up(east: Cluster, walls: Walls) -> None:
    """The hour was closed too early; what ended before its end is taken back from it."""
    say(east, walls, "00:00", {"phase": "running", "gpus": 1})
    walls.go_on(55 * MINUTE)
    walls.step(9 * MINUTE)
    assert categorize(east).counted_until == at("01:04")
    walls.step(-9 * MINUTE)
    say(east, walls, "00:56", {"phase": "ended"})
    assert categorize(east).counted_until == at("01:04")
    assert counted(east) == hours(x=56 / 60)["x"]
    walls.go_on(20 * MINUTE)
    assert categorize(east).counted_until == at("01:15")
    assert counted(east) == hours(x=56 / 60)["x"]


class Jumped:
    """In place of the guard: the clock has just jumped."""

    def take(self, clock: int, monotonic: int) -> int:
        raise ClockJump(7_200_000)


@pytest.fixture
def jumped(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Cluster]:
    cluster = make_cluster(scene.SETTINGS, MONDAY)
    monkeypatch.setattr(walltime, "_steady", Jumped())
    return lambda: cluster


def test_the_task_logs_a_jump_and_ends(jumped: Callable[[], Cluster], caplog: pytest.LogCaptureFixture) -> None:
    tasks.categorize_cluster(jumped().pk)
    assert "is not counted: the database's clock jumped by +7200.000 s" in caplog.text
    assert Cluster.objects.get().counted_until is None


def test_the_command_says_it_and_goes_on(jumped: Callable[[], Cluster], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("categorize", "--once")
    assert "jumped by +7200.000 s" in capsys.readouterr().err


def test_the_interface_asks_to_try_again_in_a_minute(jumped: Callable[[], Cluster], client: Client) -> None:
    cluster = jumped()
    token = Token.issue(cluster.organization, None, ["ingest"])[1]
    answer = client.post(
        "/v1/clusters/east/observations",
        scene.batch("00:00"),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert answer.json()["detail"] == "This server's clock jumped; try again."
