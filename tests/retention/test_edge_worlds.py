"""Any way to tell a world, with the edge moved over a part of it midway: what is younger is what the oracle finds."""

from random import Random
from typing import Any

import pytest

from ledger.categorizer import categorize
from ledger.checks import check
from ledger.core.windows import DAY, floor_day
from ledger.models import Cluster
from ledger.rebuilding import rebuild
from ledger.retention import move_to, sweep
from tests import oracle
from tests.deliveries import Delivery, deliver, end_of, random_world
from tests.edges import without_the_old, younger
from tests.postgres_world import cells, make_cluster, take

pytestmark = pytest.mark.django_db


def edges_of(way: list[Delivery], rng: Random) -> dict[int, int]:
    """Return {delivery after which the edge moves: the edge}, one or two of them, at midnights that lie behind."""
    places = sorted(rng.sample(range(len(way)), min(len(way), rng.choice((1, 2)))))
    return {place: floor_day(way[place].now) - DAY * rng.choice((0, 0, 1)) for place in places}


def tell(cluster: Cluster, way: list[Delivery], moves: dict[int, int], until: int, rng: Random) -> int:
    edge = 0
    for place, delivery in enumerate(way):
        take(cluster, delivery)
        if rng.random() < 0.2:
            categorize(cluster, now=delivery.now, batch_size=rng.choice((1, 1000)))
        if place in moves:
            edge = max(edge, moves[place])
            move_to(cluster.pk, edge)
            if rng.random() < 0.8:
                sweep(cluster.pk, edge)
    categorize(cluster, now=until)
    sweep(cluster.pk, edge)
    return edge


def told(way: list[Delivery], moves: dict[int, int]) -> list[dict[str, Any]]:
    edge, batches = 0, []
    for place, delivery in enumerate(way):
        batches.append(without_the_old(delivery.batch, edge))
        edge = max(edge, moves.get(place, 0))
    return batches


def prove(seed: int) -> bool:
    """Tell a world with its edges and compare; return whether anything was older than the last of them."""
    world, rng = random_world(seed), Random(seed)
    way = deliver(world, rng, ahead=rng.choice((0, 120_000)))
    until, moves = end_of(world, way), edges_of(way, rng)
    cluster = make_cluster(world.settings, way[0].now)
    edge = tell(cluster, way, moves, until, rng)
    wanted = oracle.cells(told(way, moves), world.settings, until)
    kept = younger(wanted, edge)
    assert cells(cluster, until) == kept
    assert list(check(cluster.pk, until, now=until))[-1].differences == []
    list(rebuild(cluster.pk, now=until))
    assert cells(cluster, until) == kept
    return bool(edge) and kept != wanted


@pytest.mark.parametrize("seed", [*range(5_000, 5_012), 5_028])
def test_10_what_is_younger_than_the_edge_is_what_the_oracle_finds(seed: int) -> None:
    prove(seed)


def test_some_of_these_worlds_have_something_to_prune() -> None:
    assert sum(prove(seed) for seed in range(5_040, 5_046)) >= 2


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(6_000, 8_000))
def test_more_worlds_with_an_edge(seed: int) -> None:
    prove(seed)
