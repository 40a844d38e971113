"""A process dies by SIGKILL at each statement and around each commit; run again, the step leaves the exact ledger."""

from collections.abc import Callable
from typing import Any

import pytest

from ledger.models import Cluster
from tests.faults import scene
from tests.faults.crashing import crash, end, start
from tests.faults.sessions import together
from tests.faults.steps import categorize, close, roll_up, take
from tests.tables import at

AFTER = at("27:00:01")
STEPS: dict[str, Callable[..., None]] = {"take": take, "categorize": categorize, "close": close, "roll_up": roll_up}


def arguments(step: str, cluster: Cluster) -> tuple[Any, ...]:
    match step:
        case "take":
            return (cluster.pk, scene.body(scene.RICH[1]), at(scene.RICH[0]))
        case "categorize":
            return (cluster.pk, at("25:30"), 1)
    return (cluster.pk, at("25:30"))


def scenery(step: str) -> list[tuple[str, Any]]:
    """Return what was told before the step: the rich batch, late for a day that is over, before all but its own."""
    before = [*scene.BEFORE, scene.LACKING]
    return before if step == "take" else [*before, scene.RICH]


def told(step: str) -> list[Any]:
    return [sent for _, sent in [*scenery(step), *([scene.RICH] if step == "take" else [])]]


def set_out(step: str) -> tuple[Any, ...]:
    """Return the arguments of the step on a cluster of its own that has come to where the step begins."""
    cluster = scene.make()
    scene.begin(cluster, *scenery(step))
    return arguments(step, cluster)


def go_on(step: str, given: tuple[Any, ...], why: str) -> None:
    """Run the step again, as its next minute or its sender would, and prove the ledger."""
    STEPS[step](*given)
    scene.prove(Cluster.objects.get(pk=given[0]), told(step), AFTER, why)


@pytest.mark.parametrize(
    ("step", "crossed"),
    [
        ("take", {"states_insert", "stalls_insert", "gone_insert", "words_put", "cell_post", "hour_post", "day_dirty"}),
        ("close", {"hour_close", "hour_begin", "hour_advance", "hour_drop_idle"}),
        ("roll_up", {"day_clean", "dayrun_clear", "dayrun_make", "runtotal_make"}),
        ("categorize", {"hour_close", "cluster_checked", "spans_update", "dayrun_make", "cluster_counted"}),
    ],
)
def test_a_step_that_dies_anywhere_is_run_again_to_the_exact_ledger(
    transactional_db: None, step: str, crossed: set[str]
) -> None:
    points: list[str] = []
    died = True
    while died:
        given, place = set_out(step), len(points) + 1
        point, died = crash(step, given, place)
        go_on(step, given, f"{step} died at {place}: {point}")
        points.append(point)
    assert {f"before {name}" for name in crossed} | {"before COMMIT", "after COMMIT"} <= set(points)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_dies_beside_another_of_its_kind_leaves_the_exact_ledger(transactional_db: None, step: str) -> None:
    """Two workers took the same task, and one of them is killed at one point or another."""
    for place in range(2, 60, 5):
        given = set_out(step)
        process, pipe = start(step, given, place)
        together([lambda given=given: STEPS[step](*given)])
        point, died = end(process, pipe)
        go_on(step, given, f"{step} died ({died}) at {place} beside another: {point}")
