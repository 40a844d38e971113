"""What a run lost and why, against what its ledger lost."""

import pytest

from ledger import queries
from ledger.access import scope_of_workspace
from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR, Ledger
from ledger.core.windows import DAY, HOUR, Window
from ledger.queries import Loss, RunKey, losses
from tests.dashboards.world import MINUTE, World, make_world


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def llm(world: World) -> RunKey:
    found = queries.find_run(scope_of_workspace(world.vision), "llm")
    assert found
    return found


def gpu_hours(loss: Loss) -> dict[str, float]:
    return {c.label: loss.ledger.amounts[c] / GPU_US_PER_HOUR for c in Category if loss.ledger.amounts[c]}


def test_losses_are_ranked_and_say_why(world: World, llm: RunKey) -> None:
    begin = world.edge - 2 * DAY
    found = losses(llm, begin, world.edge).rows
    assert [gpu_hours(loss) for loss in found[:3]] == [
        {"restart": 32.0, "failure": 64.0},
        {"idle": 96.0},
        {"waiting": 64.0},
    ]
    failed, idle, waited = found[:3]
    assert (failed.since - begin, failed.until - begin) == (20 * HOUR, 23 * HOUR)
    assert (failed.workers, failed.worker, failed.machine, failed.reasons) == (4, "worker-0", "gpu-1", ("failure",))
    assert failed.ledger.waiting == 32 * GPU_US_PER_HOUR
    assert (waited.machine, waited.reasons, waited.still) == ("", (), False)
    assert (idle.since - begin, idle.until - begin) == (30 * HOUR, 33 * HOUR)
    starting = next(loss for loss in found if "starting" in gpu_hours(loss))
    assert starting.until - starting.since == 10 * MINUTE


@pytest.mark.parametrize("hours", [(0, 48), (21, 31), (22, 23), (40, 48)])
def test_losses_add_up_to_what_the_ledger_lost(world: World, llm: RunKey, hours: tuple[int, int]) -> None:
    window = Window(world.edge - 2 * DAY + hours[0] * HOUR, world.edge - 2 * DAY + hours[1] * HOUR)
    total = queries.run_goodput(scope_of_workspace(world.vision), llm, window).total
    found = losses(llm, window.start, window.end, limit=1000)
    summed = sum((loss.ledger for loss in found.rows), Ledger())
    assert summed.amounts[1:] == total.amounts[1:]
    assert summed.held[1:] == total.held[1:]
    assert len(found.rows) == found.count
    assert all(window.start <= loss.since < loss.until <= window.end for loss in found.rows)


def test_what_goes_on_says_so(world: World, llm: RunKey) -> None:
    stall = next(
        loss for loss in losses(llm, world.edge - 2 * DAY, world.now + HOUR).rows if "stalled" in gpu_hours(loss)
    )
    assert stall.still
    assert stall.since == world.now - 38 * MINUTE
    assert (stall.worker, stall.machine, stall.workers) == ("worker-3", "gpu-4", 1)


def test_of_many_losses_the_costliest_are_shown(world: World, llm: RunKey) -> None:
    found = losses(llm, world.edge - 2 * DAY, world.edge, limit=2)
    assert len(found.rows) == 2
    assert found.count > 2
