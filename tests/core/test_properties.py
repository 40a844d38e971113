"""The invariants, on any world told in any way, against the oracle. The numbers are those of the specification."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.core.categories import Category
from ledger.core.totals import Ledger
from tests import oracle
from tests.deliveries import Delivery, deliver, end_of, random_told, random_world, told_worlds
from tests.memory import Memory
from tests.sums import ledgers_by
from tests.worlds import World

AHEAD = 120_000
NO_COMPLAINTS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
type_told = tuple[World, list[list[Delivery]]]


def count(world: World, way: list[Delivery], until: int, rng: Random | None = None) -> Memory:
    """Tell a way to the ledger in memory; with `rng` the minute's work comes at random instants between."""
    memory = Memory(world.settings, way[0].now)
    for delivery, after in zip(way, [*way[1:], Delivery(until, {})], strict=True):
        memory.receive(delivery.now, delivery.batch)
        if rng and rng.random() < 0.3:
            memory.categorize(rng.randint(delivery.now, after.now))
    memory.categorize(until)
    return memory


def batches(way: list[Delivery]) -> list[dict]:
    return [delivery.batch for delivery in way]


@settings(max_examples=80, suppress_health_check=NO_COMPLAINTS)
@given(told_worlds(ways=2))
def test_5_any_way_to_tell_a_world_leaves_the_cells_of_the_oracle(told: type_told) -> None:
    world, (one, other) = told
    until = end_of(world, one, other)
    cells = count(world, one, until).cells(until)
    assert cells == oracle.cells(batches(one), world.settings, until)
    assert cells == count(world, other, until).cells(until)


@pytest.mark.parametrize("seed", range(150))
def test_5_so_does_any_schedule_and_saying_everything_twice(seed: int) -> None:
    world, rng = random_world(seed), Random(seed)
    way = deliver(world, rng, ahead=rng.choice((0, AHEAD)))
    twice = way + [Delivery(way[-1].now, delivery.batch) for delivery in way]
    until = end_of(world, way)
    cells = oracle.cells(batches(way), world.settings, until)
    assert count(world, way, until, rng).cells(until) == cells
    assert count(world, twice, until, rng).cells(until) == cells


@pytest.mark.parametrize("seed", range(1_000, 1_040))
def test_5_after_every_delivery_the_ledger_is_that_of_what_was_said_so_far(seed: int) -> None:
    world, (way,) = random_told(seed)
    memory = Memory(world.settings, way[0].now)
    for index, delivery in enumerate(way):
        memory.receive(delivery.now, delivery.batch)
        said = batches(way[: index + 1])
        assert memory.cells(delivery.now) == oracle.cells(said, world.settings, delivery.now), index


@settings(max_examples=40, suppress_health_check=NO_COMPLAINTS)
@given(told_worlds())
def test_1_and_2_every_instant_of_a_counted_life_is_counted_once(told: type_told) -> None:
    world, (way,) = told
    until = end_of(world, way)
    timelines = count(world, way, until).timelines(until)
    asked = oracle.asked(batches(way), world.settings, until)
    for worker, segments in timelines.items():
        assert sum(one.gpus_milli * (one.end - one.start) for one in segments) == asked.get(worker, 0)
        assert all(before.end <= after.start for before, after in zip(segments, segments[1:], strict=False))
        assert all(one.start < one.end for one in segments)
    by_oracle = oracle.Ledger(batches(way), world.settings, until).timelines()
    for worker, segments in by_oracle.items():
        assert oracle.timeline(timelines[worker]) == oracle.timeline(segments)


@settings(max_examples=40, suppress_health_check=NO_COMPLAINTS)
@given(told_worlds(), st.data())
def test_3_and_6_every_grouping_of_every_window_has_one_total(told: type_told, data: st.DataObject) -> None:
    world, (way,) = told
    until = end_of(world, way)
    cells = count(world, way, until).cells(until)
    hours = sorted({key[0] for key in cells}) or [0]
    start, end = sorted([data.draw(st.sampled_from(hours)), data.draw(st.sampled_from(hours))])
    workspaces = {run["uid"]: run["workspace"] for run in world.runs}
    whole = ledgers_by(cells, 0, until, lambda _: "all").get("all", Ledger())
    total = ledgers_by(cells, start, end, lambda _: "all").get("all", Ledger())
    names = {
        "run": lambda key: key[1],
        "machine": lambda key: key[2],
        "pool": lambda key: key[3],
        "workspace": lambda key: workspaces[key[1]],
    }
    for name in names.values():
        assert sum(ledgers_by(cells, start, end, name).values(), Ledger()) == total
    around = [*ledgers_by(cells, 0, start, str).values(), *ledgers_by(cells, end, until, str).values()]
    assert sum(around, total) == whole
    assert total.productive <= total.allocated <= total.asked


@settings(max_examples=25, suppress_health_check=NO_COMPLAINTS)
@given(told_worlds())
def test_4_what_ticks_in_the_open_cells_is_what_the_living_hold(told: type_told) -> None:
    world, (way,) = told
    memory = Memory(world.settings, way[0].now)
    for index, delivery in enumerate(way):
        memory.receive(delivery.now, delivery.batch)
        ticking = sum(sum(rates[: len(Category)]) for rates in memory.rates.values())
        living = oracle.Ledger(batches(way[: index + 1]), world.settings, delivery.now + 1)
        gpus = sum(worker.gpus(delivery.now) for worker in living.workers.values())
        assert ticking == gpus


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2_000, 12_000))
def test_more_worlds_leave_the_cells_of_the_oracle(seed: int) -> None:
    world, (way,) = random_told(seed)
    until = end_of(world, way)
    assert count(world, way, until, Random(seed)).cells(until) == oracle.cells(batches(way), world.settings, until)
