"""The lanes of many workers: their columns share out their time to the millisecond, and a group can be opened."""

from random import Random

import pytest

from dashboards.group_lanes import BUCKETS, column_of, columns, group_pictures
from dashboards.lanes import HEIGHT
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.core.categories import Category
from ledger.core.windows import DAY, HOUR
from ledger.queries import Change, RunKey, Segment
from tests.dashboards.conftest import Get
from tests.dashboards.reading import read, text_of
from tests.dashboards.world import World, more_workers

LLM = "/w/acme/vision/runs/uid-llm"


@pytest.fixture
def llm(world: World) -> RunKey:
    """A run of sixty workers, of which four have had all kinds of time."""
    more_workers(world)
    found = queries.find_run(scope_of_workspace(world.vision), "llm")
    assert found
    return found


def amounts(segments: list[Segment], start: int, end: int) -> dict[tuple[Category, bool], int]:
    """What each category, held and not held, has of [start, end)."""
    lines = {(category, held): 0 for category in Category for held in (True, False)}
    for one in segments:
        to = end if one.to is None else one.to
        lines[one.category, one.held] += max(min(to, end) - max(one.since, start), 0) * one.gpus_milli
    return lines


@pytest.mark.parametrize("seed", range(24))
def test_each_column_has_what_lies_in_it(world: World, llm: RunKey, seed: int) -> None:
    chance = Random(seed)
    end = world.edge - chance.randint(0, HOUR)
    start = end - chance.randint(2, 2 * DAY)
    size = column_of(end - start)
    workers = queries.timed_workers(llm, start, end)
    groups = [workers[0::3], workers[1::3], workers[2::3]]
    told = queries.segments(llm, workers, start, end)
    assert {worker.name for worker in workers} == set(told)
    found = queries.changes(groups, start, end, end, size)
    for number, members in enumerate(groups):
        known = [segment for worker in members for segment in told[worker.name]]
        edges = [(start + n * size, min(start + (n + 1) * size, end)) for n in range(BUCKETS)]
        wanted = [amounts(known, *edge) if edge[0] < edge[1] else amounts([], 0, 0) for edge in edges]
        for line in wanted[0]:
            of_line = (change for change in found if (change.group, change.category, change.held) == (number, *line))
            assert columns(of_line, size) == [column[line] for column in wanted]


def test_what_goes_on_is_shared_out_up_to_where_it_is_counted(world: World, llm: RunKey) -> None:
    start, until, end = world.edge, world.edge + 1000, world.edge + HOUR
    (worker,) = [one for one in queries.timed_workers(llm, start, end) if one.name == "worker-7"]
    found = queries.changes([[worker]], start, end, until, HOUR)
    assert sum(change.amount for change in found) == 1000 * 1000


def test_a_page_folds_many_workers_and_opens_a_group(get: Get, llm: RunKey) -> None:
    page = read(get(LLM))
    lines = [line for line in page.by_id("lanes").of("div") if line.attributes["class"].startswith("line")][1:]
    assert [line.of("span")[0].text for line in lines] == [
        "worker-0 … worker-39 40 workers",
        "worker-40 … worker-59 20 workers",
    ]
    opened = get(LLM, open="1")
    inner = [line for line in read(opened).by_id("lanes").of("div") if "inner" in line.attributes["class"]]
    assert [line.of("span")[0].text for line in inner] == [f"worker-{n} gpu-5" for n in range(40, 60)]
    assert "productive, " in text_of(opened, "lanes")


def test_a_group_is_said_in_words_and_drawn_from_below() -> None:
    half = [
        Change(1, Category.PRODUCTIVE, True, 0, 8000, 8000 * HOUR),
        Change(1, Category.PRODUCTIVE, True, 40, -8000, -8000 * HOUR),
        Change(1, Category.IDLE, True, 40, 8000, 8000 * HOUR),
        Change(1, Category.IDLE, True, 80, -8000, 0),
    ]
    nothing, drawn = group_pictures(2, half, HOUR)
    assert 'aria-label="no time"' in nothing
    assert drawn.count("<rect") == 2
    assert 'aria-label="productive 50 %, idle 50 %"' in drawn
    assert f'class="k1" x="50%" width="50%" y="0" height="{HEIGHT}"' in drawn


def test_groups_have_as_many_columns_as_the_page_can_carry() -> None:
    busy = [
        Change(group, Category(n % 7), True, n + late, gpus_milli, gpus_milli * HOUR)
        for group in range(50)
        for n in range(80)
        for late, gpus_milli in ((0, 8000 + group), (1, -8000 - group))
    ]
    calm = group_pictures(25, [change for change in sorted(busy) if change.group < 25 and change.column < 2], HOUR)
    assert sum(len(drawn) for drawn in calm) < 20_000
    pictures = group_pictures(50, sorted(busy), HOUR)
    assert sum(drawn.count("<rect") for drawn in pictures) <= 10 * 7 * 50
    assert sum(len(drawn) for drawn in pictures) < 150_000
