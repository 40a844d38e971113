"""Each mutant of the statements and steps is noticed by the test that stands beside it."""

from collections.abc import Callable
from typing import Any

import pytest

from ledger.models import Cluster
from tests.evidence import Settings
from tests.faults import scene
from tests.faults.crashing import crash
from tests.faults.failpoints import failpoints
from tests.faults.mutants import ON_POSTGRES, STEPPING, TOGETHER, TWO_TRANSACTIONS, type_killer
from tests.faults.scripted import ScriptedClock
from tests.faults.steps import take
from tests.faults.test_clock_jumps import Walls
from tests.faults.test_crashes import go_on, set_out
from tests.faults.test_interleavings import FIRST
from tests.ledger.conftest import East
from tests.postgres_world import make_cluster
from tests.simulation.mutating import Mutant, mutated
from tests.worlds import MONDAY


def name(value: object) -> str:
    return value.name if isinstance(value, Mutant) else "killer"


def noticed(mutant: Mutant, killer: Callable[[], object]) -> bool:
    with mutated(mutant):
        try:
            killer()
        except Exception:
            return True
    return False


DEAD_OR_ALIVE = pytest.mark.parametrize("alive", [True, False], ids=["mutated", "as it is"])


def judge(mutant: Mutant, alive: bool, killer: Callable[[], object]) -> None:
    """The killer notices the mutant, and finds nothing in the source as it is."""
    if alive:
        assert noticed(mutant, killer), f"{mutant.name} lives"
    else:
        killer()


@DEAD_OR_ALIVE
@pytest.mark.parametrize(("mutant", "killer"), ON_POSTGRES, ids=name)
def test_a_mutant_is_killed_in_one_session(db: None, mutant: Mutant, killer: type_killer, alive: bool) -> None:
    judge(mutant, alive, lambda: killer(East(make_cluster(Settings(), MONDAY))))


@DEAD_OR_ALIVE
@pytest.mark.parametrize(("mutant", "killer"), TOGETHER, ids=name)
def test_a_mutant_is_killed_by_two_sessions(
    transactional_db: None, mutant: Mutant, killer: type_killer, alive: bool
) -> None:
    cluster = scene.make()
    scene.deliver(cluster, "20:00", FIRST)
    judge(mutant, alive, lambda: killer(cluster))


@DEAD_OR_ALIVE
@pytest.mark.parametrize(("mutant", "killer"), STEPPING, ids=name)
def test_a_mutant_is_killed_by_a_clock_that_steps(
    clock: ScriptedClock,
    monkeypatch: pytest.MonkeyPatch,
    mutant: Mutant,
    killer: Callable[[Any, Any], None],
    alive: bool,
) -> None:
    walls = Walls(clock, monkeypatch)
    judge(mutant, alive, lambda: killer(make_cluster(scene.SETTINGS, MONDAY), walls))


def points_of_taking() -> list[str]:
    points: list[str] = []
    given = set_out("take")
    with failpoints(lambda _, point: points.append(point)):
        take(*given)
    return points


def test_amounts_and_state_in_two_transactions_are_noticed_by_a_death_between_them(transactional_db: None) -> None:
    with mutated(TWO_TRANSACTIONS):
        points = points_of_taking()
    place = points.index("after COMMIT", points.index("before states_insert")) + 1
    given = set_out("take")
    assert crash("under", (TWO_TRANSACTIONS, "take", *given), place).point == "after COMMIT"
    assert noticed(TWO_TRANSACTIONS, lambda: go_on("take", given, "died between amounts and state"))
    assert Cluster.objects.filter(pk=given[0]).exists()


def test_the_same_death_without_the_mutant_costs_nothing(transactional_db: None) -> None:
    points = points_of_taking()
    place = points.index("after COMMIT", points.index("before states_insert")) + 1
    given = set_out("take")
    assert crash("take", given, place).point == "after COMMIT"
    go_on("take", given, "died after its commit")
