"""Windows that begin and end at any hour: what a roll-up has too much is taken off; the answer is that of the hours."""

from importlib import import_module
from typing import Any

import pytest

from ledger.access import Scope, scope_of_organization
from ledger.core.windows import DAY, HOUR, Window
from ledger.models import DayMachine, DirtyDay, EighthMachine, EighthRun
from ledger.queries import Answer, Filters, goodput
from tests.ledger.conftest import East, reading, state
from tests.postgres_world import moment
from tests.tables import at

NOW = "230:20"  # the tenth day, a Wednesday, of which 12 hours are rolled up
SHARED = Filters(machine="gpu-1")
OF_ONE = Filters(user="bo")
ASKED = (
    ("run", Filters()),
    ("machine", OF_ONE),
    ("machine", Filters()),
    ("pool", Filters()),
    ("pool", SHARED),
    ("workspace", SHARED),
)


@pytest.fixture
def story(east: East) -> East:
    """Two runs of two workspaces take turns on a machine, which moves to another pool; one waits in between."""
    other = {"workspace": "speech", "uid": "run-2", "name": "tts", "user": "bo"}
    for day in range(10):
        first, second = f"{24 * day + 1}:10", f"{24 * day + 14}:40"
        pool = "a100" if day < 4 else "h100"
        placed = {"gpus": 2, "machine": "gpu-1", "pool": pool}
        if at(second) > at(NOW):
            break
        east.say(first, state(first, "running", **placed), state(first, "pending", worker="w1", gpus=1))
        east.send(second, workers=[state(second, "ended"), state(second, "ended", worker="w1")])
        theirs = [{**state(second, "running", **placed), "run": "run-2"}]
        busy = [{**reading(second, gpu_busy=day % 2 * 90), "run": "run-2"}]
        east.send(second, runs=[other], workers=theirs, readings=busy)
        ended = f"{24 * day + 23}:50"
        east.send(ended, runs=[other], workers=[{**state(ended, "ended"), "run": "run-2"}])
    east.categorize(NOW)
    assert EighthRun.objects.exists()
    assert not DirtyDay.objects.exists()
    return east


def answers(scope: Scope, start: int, end: int) -> list[Answer]:
    return [goodput(scope, Window(start, end), by, filters) for by, filters in ASKED]


@pytest.mark.parametrize("end", ["192:00", "205:00", "215:00", "222:00", "229:00", "231:00"])
@pytest.mark.parametrize("dirty", [None, 0, 4])
def test_any_hour_may_be_the_first(story: East, monkeypatch: pytest.MonkeyPatch, end: str, dirty: int | None) -> None:
    """The first day a Monday or a Tuesday, so that five or six days of its week are asked for."""
    if dirty is not None:
        spoil(story, moment(at("00:00") + dirty * DAY))
    scope = scope_of_organization(story.cluster.organization)
    for start in range(at("00:00"), at("50:00"), HOUR):
        told = answers(scope, start, at(end))
        with monkeypatch.context() as patched:
            patched.setattr(import_module("ledger.queries.goodput"), "_rollup", lambda asked, of_runs: "hours")
            assert answers(scope, start, at(end)) == told, (start - at("00:00")) // HOUR


@pytest.mark.parametrize("start", ["00:00", "191:00"])
def test_any_hour_may_be_the_last(story: East, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    scope = scope_of_organization(story.cluster.organization)
    for end in range(at("192:00"), at("232:00"), HOUR):
        told = answers(scope, at(start), end)
        with monkeypatch.context() as patched:
            patched.setattr(import_module("ledger.queries.goodput"), "_rollup", lambda asked, of_runs: "hours")
            assert answers(scope, at(start), end) == told, (end - at("00:00")) // HOUR


def spoil(story: East, day: Any) -> None:
    """Make a day dirty, and what is rolled up of it wrong, so that nobody may read it."""
    DirtyDay.objects.create(cluster=story.cluster, day=day)
    DayMachine.objects.filter(day=day).update(productive=1)
    for of in (EighthMachine, EighthRun):
        of.objects.filter(eighth__gte=day, eighth__lt=moment(int(day.timestamp()) * 1000 + DAY)).update(productive=1)
