"""Invariant 5 on real Postgres: any way to tell a world leaves the cells that the oracle finds."""

from random import Random

import pytest

from tests import oracle
from tests.deliveries import deliver, end_of, random_world
from tests.postgres_world import cells, make_cluster, tell

AHEAD = 120_000


def agree(seed: int) -> None:
    world, rng = random_world(seed), Random(seed)
    way = deliver(world, rng, ahead=rng.choice((0, 0, AHEAD)))
    until = end_of(world, way)
    cluster = make_cluster(world.settings, way[0].now)
    tell(cluster, way, until, rng)
    assert cells(cluster, until) == oracle.cells([one.batch for one in way], world.settings, until), seed


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(100))
def test_any_way_to_tell_a_world_leaves_the_same_cells(seed: int) -> None:
    agree(seed)


@pytest.mark.soak
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(100, 3_000))
def test_more_worlds_leave_the_same_cells(seed: int) -> None:
    agree(seed)
