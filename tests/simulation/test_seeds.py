"""Every seed is right, and together they hit every fault there is."""

from pathlib import Path

import pytest

from tests.simulation.marks import MARKS, TOLD
from tests.simulation.simulation import simulate

CHUNK = 100
KEPT = Path(__file__).with_name("seeds.txt")


def hits(seeds: range, store: str = "memory") -> set[str]:
    return set().union(*(simulated(seed, store) for seed in seeds))


def simulated(seed: int, store: str) -> set[str]:
    try:
        return simulate(seed, store)
    except AssertionError as wrong:
        wrong.add_note(f"python -m tests.simulation --seed {seed} --store {store}")
        raise


@pytest.mark.parametrize("first", range(0, 600, CHUNK))
def test_a_hundred_seeds_are_right_and_hit_every_fault(first: int) -> None:
    assert hits(range(first, first + CHUNK)) == MARKS


@pytest.mark.soak
@pytest.mark.parametrize("first", range(600, 20_000, CHUNK))
def test_a_hundred_more_seeds_are_right(first: int) -> None:
    assert hits(range(first, first + CHUNK)) == MARKS


@pytest.mark.django_db
@pytest.mark.parametrize("first", range(0, 24, 8))
def test_seeds_are_right_on_postgres_and_alerts_are_told(first: int) -> None:
    assert {"counted: unobserved"} | TOLD <= hits(range(first, first + 8), "postgres")


@pytest.mark.soak
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(24, 500))
def test_more_seeds_are_right_on_postgres(seed: int) -> None:
    simulate(seed, "postgres")


@pytest.mark.django_db
@pytest.mark.parametrize("line", [one for one in KEPT.read_text().splitlines() if one[:1].isdigit()])
def test_a_seed_that_once_failed_is_right(line: str) -> None:
    seed, store, _ = line.split(maxsplit=2)
    simulate(int(seed), store)


def test_a_seed_is_one_run() -> None:
    told: list[list[str]] = [[], []]
    from tests.simulation.simulation import Simulation

    for say in told:
        Simulation(7, say=say.append).run()
    assert told[0] == told[1] != []
