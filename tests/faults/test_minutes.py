"""The minute's work missed, doubled, stormed or cut in pieces (T1–T6, T9): the same cells to the millisecond."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from goodput_site.celery import app
from ledger import tasks
from ledger.access import scope_of_organization
from ledger.categorizer import Counted, categorize
from ledger.core.windows import Window
from ledger.models import Cluster
from ledger.queries import goodput
from tests.faults import scene
from tests.faults.scripted import ScriptedClock
from tests.faults.sessions import together
from tests.tables import at
from tests.worlds import MINUTE

STORY = [*scene.BEFORE, scene.LACKING, scene.RICH]
TOLD = [sent for _, sent in STORY]
END = at("50:00:00.003")


def tell(cluster: Cluster, moments: list[int]) -> None:
    """Tell the story and categorize at `moments`, in the order of time."""
    events: list[tuple[int, Callable[[], object]]] = [
        (at(moment), partial(scene.deliver, cluster, moment, sent)) for moment, sent in STORY
    ]
    events += [(moment, partial(categorize, cluster, now=moment)) for moment in moments]
    for _, happens in sorted(events, key=lambda event: event[0]):
        happens()


def each(step: int, start: str = "19:30", end: int = END) -> list[int]:
    return list(range(at(start), end, step))


@pytest.mark.parametrize(
    ("name", "moments"),
    [
        ("t1 each minute but one", [moment for moment in each(MINUTE, end=at("21:00")) if moment != at("20:10")]),
        ("t2 not for an hour", [*each(20 * MINUTE, end=at("20:30")), *each(20 * MINUTE, start="21:30")]),
        ("t3 not for a day", [at("20:10"), at("45:00")]),
        ("never", []),
        ("at random instants", sorted(Random(1).sample(range(at("19:00"), END), 60))),
    ],
)
def test_t1_any_schedule_of_minutes_leaves_the_same_cells(db: None, name: str, moments: list[int]) -> None:
    cluster = scene.make()
    tell(cluster, moments)
    scene.prove(cluster, TOLD, END, name)


def test_t3_after_a_day_it_answers_incompletely_and_catches_up_in_bounded_batches(clock: ScriptedClock) -> None:
    cluster = scene.make()
    tell(cluster, [at("24:30")])
    clock.set(END)
    scope, window = scope_of_organization(cluster.organization), Window(at("19:00"), at("48:00"))
    assert not goodput(scope, window).complete
    assert categorize(cluster, batch_size=1).hours == 26
    answer = goodput(scope, window)
    assert answer.complete
    assert answer.counted_until == END
    scene.prove(cluster, TOLD, END)


def test_t4_the_second_of_two_counts_nothing(db: None) -> None:
    cluster = scene.make()
    tell(cluster, [END])
    assert categorize(cluster, now=END) == Counted(workers=0, hours=0, days=0, counted_until=END)
    scene.prove(cluster, TOLD, END)


def test_t5_sixteen_at_once_count_each_minute_once(clock: ScriptedClock) -> None:
    """Two beats and many workers: whoever comes moves the clock on and counts."""
    cluster = scene.make()
    scene.begin(cluster, *STORY)
    clock.set(at("24:22"))

    def many(seed: int) -> None:
        rng = Random(seed)
        for _ in range(12):
            clock.tick(rng.randint(1, 20_000) + rng.choice((0, 0, 4 * MINUTE)))
            categorize(cluster, batch_size=rng.choice((1, 2, 1000)))

    together(partial(many, seed) for seed in range(16))
    scene.prove(cluster, TOLD, clock.reach(END))


def test_t5_closing_an_hour_at_once_closes_it_once(clock: ScriptedClock) -> None:
    cluster = scene.make()
    scene.begin(cluster, *STORY)
    clock.set(at("30:00"))
    done: list[int] = []
    together([lambda: done.append(categorize(cluster).hours)] * 16)
    assert sum(done) == 6
    scene.prove(cluster, TOLD, clock.reach(END))


def test_t6_a_storm_of_tasks_changes_nothing_and_what_waits_expires(
    clock: ScriptedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = scene.make()
    scene.begin(cluster, *STORY)
    clock.set(at("26:00"))
    sent: list[tuple[tuple[int, ...], int]] = []
    monkeypatch.setattr(
        tasks.categorize_cluster, "apply_async", lambda args, expires: sent.append((args, expires)), raising=True
    )
    for _ in range(200):
        tasks.categorize()
    assert sent == [((cluster.pk,), 55)] * 200
    assert app.conf.beat_schedule["categorize"]["options"]["expires"] < 60
    for arguments, _ in sent:
        tasks.categorize_cluster(*arguments)
    scene.prove(cluster, TOLD, clock.reach(END))


def test_t6_a_task_of_a_cluster_that_is_gone_does_nothing(db: None) -> None:
    tasks.categorize_cluster(987_654_321)


def test_t9_a_task_that_is_redelivered_after_its_commit_finds_nothing(clock: ScriptedClock) -> None:
    cluster = scene.make()
    scene.begin(cluster, *STORY)
    clock.set(at("26:00"))
    tasks.categorize_cluster(cluster.pk)
    before = scene.cells(cluster, at("26:00"))
    tasks.categorize_cluster(cluster.pk)
    assert scene.cells(cluster, at("26:00")) == before != {}
