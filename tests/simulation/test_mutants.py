"""Each mutant of the core is noticed, by a simulated seed or a nasty world against the oracle."""

from random import Random

import pytest

from tests import oracle
from tests.deliveries import end_of, random_told
from tests.memory import Memory
from tests.simulation.mutants import IN_MEMORY
from tests.simulation.mutating import Mutant, mutated
from tests.simulation.simulation import simulate

SEEDS = 120


def nasty(seed: int) -> None:
    """Tell a small nasty world in memory, with the minute's work between, and ask the oracle."""
    world, (way,) = random_told(seed)
    rng, until = Random(seed), end_of(world, way)
    memory = Memory(world.settings, way[0].now)
    for now, batch in way:
        memory.receive(now, batch)
        if rng.random() < 0.1:
            memory.categorize(now)
    memory.categorize(until)
    assert memory.cells(until) == oracle.cells([one.batch for one in way], world.settings, until)


def noticed(seeds: int) -> bool:
    """Return whether anything goes wrong in so many seeds."""
    for seed in range(seeds):
        try:
            simulate(seed)
            nasty(seed)
        except Exception:
            return True
    return False


def test_without_a_mutant_nothing_is_noticed() -> None:
    assert not noticed(20)


@pytest.mark.parametrize("mutant", IN_MEMORY, ids=lambda mutant: mutant.name)
def test_a_mutant_is_killed(mutant: Mutant) -> None:
    with mutated(mutant):
        assert noticed(SEEDS), f"{mutant.name} lives"


def test_a_mutant_whose_line_is_gone_is_an_error() -> None:
    gone = IN_MEMORY[0]._replace(old="a line that nobody wrote")
    with pytest.raises(AssertionError, match="has 0 ×"), mutated(gone):
        pass


def test_a_mutant_is_gone_after_its_block() -> None:
    with mutated(IN_MEMORY[0]):
        assert noticed(SEEDS)
    assert not noticed(5)
