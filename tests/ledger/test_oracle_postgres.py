"""Invariants on real Postgres: any way to tell a world leaves the cells, and the answers, that the oracle finds."""

from random import Random

import pytest

from ledger.access import scope_of_organization
from ledger.checks import check
from ledger.core.totals import Ledger
from ledger.core.windows import Window, floor_hour
from ledger.models import Cluster
from ledger.queries import GROUPINGS, goodput
from ledger.rebuilding import rebuild
from tests import oracle
from tests.deliveries import Delivery, deliver, end_of, random_world
from tests.oracle import type_cell
from tests.postgres_world import cells, make_cluster, tell
from tests.sums import ledgers_by
from tests.worlds import World

AHEAD = 120_000
pytestmark = pytest.mark.django_db
type_cells = dict[type_cell, dict[str, int]]


def told(seed: int) -> tuple[World, Cluster, type_cells, int]:
    """Tell a random world and return it with its cluster, the cells of the oracle, and the instant of both."""
    world, rng = random_world(seed), Random(seed)
    way = deliver(world, rng, ahead=rng.choice((0, 0, AHEAD)))
    until = end_of(world, way)
    cluster = make_cluster(world.settings, way[0].now)
    tell(cluster, way, until, rng)
    return world, cluster, oracle.cells([one.batch for one in way], world.settings, until), until


def differences(cluster: Cluster, until: int) -> list[str]:
    return list(check(cluster.pk, until, now=until))[-1].differences


@pytest.mark.parametrize("seed", range(100))
def test_5_any_way_to_tell_a_world_leaves_the_cells_of_the_oracle(seed: int) -> None:
    _, cluster, wanted, until = told(seed)
    assert cells(cluster, until) == wanted
    assert differences(cluster, until) == []


@pytest.mark.parametrize("seed", range(3_000, 3_015))
def test_5_telling_all_of_it_again_and_rebuilding_change_nothing(seed: int) -> None:
    world, rng = random_world(seed), Random(seed)
    way = deliver(world, rng)
    cluster = make_cluster(world.settings, way[0].now)
    again = [Delivery(way[-1].now, one.batch) for one in way]
    until = end_of(world, way)
    tell(cluster, way, way[-1].now, rng)
    tell(cluster, again, until, rng)
    wanted = oracle.cells([one.batch for one in way], world.settings, until)
    assert cells(cluster, until) == wanted
    assert list(rebuild(cluster.pk, now=until)) != []
    assert cells(cluster, until) == wanted
    assert differences(cluster, until) == []


@pytest.mark.parametrize("seed", range(3_100, 3_115))
def test_3_every_grouping_of_any_window_answers_what_the_oracle_sums(seed: int) -> None:
    world, cluster, wanted, until = told(seed)
    runs = {run["uid"]: run for run in world.runs}
    names = {
        "run": lambda key: key[1],
        "machine": lambda key: key[2],
        "pool": lambda key: key[3],
        "workspace": lambda key: runs[key[1]]["workspace"],
        "user": lambda key: runs[key[1]]["user"],
    }
    assert set(names) == set(GROUPINGS)
    scope, rng = scope_of_organization(cluster.organization), Random(seed)
    first = min((key[0] for key in wanted), default=floor_hour(until) - 1)
    for _ in range(3):
        start, end = sorted((rng.randrange(first, until), rng.randrange(first, until)))
        window = Window.around(start, min(end + 1, floor_hour(until)))
        for by in GROUPINGS:
            answer = goodput(scope, window, by=by, limit=None)
            sums = ledgers_by(wanted, window.start, window.end, names[by])
            assert {row.uid or row.name: row.ledger for row in answer.rows} == sums
            assert answer.total == sum(sums.values(), Ledger())


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 3_000))
def test_more_worlds_leave_the_cells_of_the_oracle(seed: int) -> None:
    _, cluster, wanted, until = told(seed)
    assert cells(cluster, until) == wanted
    assert differences(cluster, until) == []
