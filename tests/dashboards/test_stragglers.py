"""Stragglers on the Goodput page and on the page of a run, and a run's input pipelines."""

import json
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboards.sections.progress import bar, micro
from dashboards.straggling import seconds
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.batches import Batch
from ledger.core.windows import DAY, HOUR
from ledger.decode.values import iso
from ledger.ingest import ingest
from ledger.models import Machine, Straggle, Worker
from ledger.pipeline.delivery import deliver
from ledger.pipeline.reports import decode
from tests.dashboards.conftest import Get
from tests.dashboards.reading import read, text_of
from tests.dashboards.world import World, small

LLM = "/w/acme/vision/runs/uid-llm"
GPU_2 = "/w/acme/vision/machines/gpu-2"


def slow(world: World, worker: str = "worker-1", step_ms: int = 3_000, behind: int = 0, machine: str = "gpu-2") -> None:
    since = datetime.fromtimestamp(world.now / 1000, UTC) - timedelta(hours=1)
    Straggle.objects.create(
        worker=Worker.objects.get(run__uid="uid-llm", name=worker), machine=Machine.objects.get(name=machine),
        since=since, seen_at=since, confirmed=True, step_ms=step_ms, gang_ms=1_500, behind=behind,
    )  # fmt: skip


def told(world: World, *workers: tuple[str, float]) -> None:
    """Report ten batches of each worker that take so many seconds together, half of it the source's."""
    at = iso(world.now - 60_000)
    reports = [
        {"worker": name, "at": at, "batches": 10, "wall_seconds": took, "source_seconds": took / 2}
        for name, took in workers
    ]
    found = queries.find_run(scope_of_workspace(world.vision), "uid-llm")
    assert found is not None
    deliver(found, decode(json.dumps({"sent_at": at, "batches": reports}).encode(), "uid-llm"))


def test_the_goodput_page_says_who_is_slow_where_and_what_it_costs(world: World, get: Get) -> None:
    assert "straggler" not in get().content.decode()
    slow(world)
    said = text_of(get(), "stragglers")
    for part in ("1 straggler", "llm", "worker-1", "gpu-2", "2 × its gang", "3 s a step beside 1.5 s"):
        assert part in said
    assert "16 GPUs of 32 GPUs wait for it" in said


def test_what_it_costs_is_said_to_a_tenth(world: World, get: Get) -> None:
    slow(world, step_ms=2_300)
    assert "11.1 GPUs of 32 GPUs wait for it" in text_of(get(), "stragglers")


def test_who_is_only_behind_is_said_to_be_so(world: World, get: Get) -> None:
    slow(world, step_ms=1_500, behind=7)
    said = text_of(get(LLM), "stragglers")
    assert "7 steps behind" in said
    assert "its gang" not in said.replace("the gang", "")
    assert "wait for it" not in said.replace("that waits for it", "")


def test_the_page_of_a_run_shows_its_pipelines_the_slowest_first(world: World, get: Get) -> None:
    assert 'id="pipelines"' not in get(LLM).content.decode()
    told(world, ("worker-0", 1.0), ("worker-2", 4.0))
    said = text_of(get(LLM), "pipelines")
    assert said.index("worker-2") < said.index("worker-0")
    assert "400 ms 200 ms 0 µs 0 µs 200 ms 50 %" in said


def test_more_than_twenty_are_listed_when_asked_for(world: World, get: Get) -> None:
    told(world, *((f"more-{number:02}", 1 + number) for number in range(25)))
    assert "List 5 more" in text_of(get(LLM), "pipelines")
    assert "more-00" not in text_of(get(LLM), "pipelines")
    assert "more-00" in text_of(get(LLM, pipelines="all"), "pipelines")


def test_the_number_of_queries_does_not_grow_with_what_is_shown(world: World, get: Get) -> None:
    def count(path: str) -> int:
        get(path)
        with CaptureQueriesContext(connection) as captured:
            get(path)
        return len(captured)

    slow(world)
    told(world, ("worker-0", 1.0))
    before = [count("/w/acme/vision/goodput"), count(LLM)]
    slow(world, "worker-2")
    slow(world, "worker-3")
    told(world, *((f"more-{number}", 1.0) for number in range(15)))
    assert [count("/w/acme/vision/goodput"), count(LLM)] == before


def past(world: World, count: int) -> None:
    """Let that many small runs be over on gpu-2, an hour after each other; every second one had a straggler."""
    batch = Batch("test/east", world.now, seen_from=world.edge - 2 * DAY)
    for number in range(count):
        small(batch, f"past-{number:02}", world.edge - (30 - number) * HOUR, hours=2, machine="gpu-2")
    assert ingest(world.east, batch).refused == []
    for number in range(0, count, 2):
        since = datetime.fromtimestamp(world.edge / 1000, UTC) - timedelta(hours=29 - number)
        for minutes, step_ms in ((0, 2_000), (10, 4_000)):
            begins = since + timedelta(minutes=minutes)
            Straggle.objects.create(
                worker=Worker.objects.get(run__uid=f"uid-past-{number:02}"), machine=Machine.objects.get(name="gpu-2"),
                since=begins, seen_at=begins, until=begins + timedelta(minutes=5), confirmed=True,
                step_ms=step_ms, gang_ms=1_000, behind=0,
            )  # fmt: skip


def test_a_machine_tells_which_of_its_last_runs_it_slowed(world: World, get: Get) -> None:
    assert "No worker on it was a straggler in its last 1 run of vision" in text_of(get(GPU_2), "straggled")
    past(world, 12)
    slow(world)
    page = get(GPU_2)
    said = text_of(page, "straggled")
    assert "It straggled in 5 of its last 10 runs of vision" in said
    names = ["llm", "past-10", "past-08", "past-06", "past-04"]
    assert [said.index(name) for name in names] == sorted(said.index(name) for name in names)
    assert "past-02" not in said
    assert "worker-1" in said
    assert "2 × its gang 3 s a step beside 1.5 s" in said
    assert "10 min, 2 times 4 × its gang 4 s a step beside 1 s" in said, "of several the slowest is told"
    (now, *_) = page.context["straggled"].rows
    assert now.still
    assert get(now.href.split("#")[0]).context["run"].name == "llm"
    links = [a.attributes["href"] for a in read(page).by_id("straggled").of("a")]
    assert len(links) == 5


def test_a_cluster_s_admin_sees_whose_runs_a_machine_slowed(world: World, get: Get) -> None:
    slow(world)
    theirs = text_of(get("/organizations/acme/clusters/east/machines/gpu-2", "adam"), "straggled")
    assert "llm vision now" in theirs
    assert "It straggled in 1 of its last 1 run" in theirs
    assert 'id="straggled"' not in get("/w/acme/vision/pools/h100").content.decode()


def test_a_machine_s_history_is_each_workspace_s_own(world: World, get: Get) -> None:
    scope = scope_of_workspace(world.speech)
    assert [one.run for one in queries.straggled_runs(scope, ["gpu-2", "gpu-4"], world.now)] == ["choir"]
    assert queries.straggle_history(scope, ["gpu-2", "gpu-4"]) == {"gpu-4": (1, 0)}


def test_what_is_anothers_is_not_shown(world: World, get: Get) -> None:
    slow(world)
    assert "worker-1" not in get("/w/acme/speech/goodput", "sol").content.decode()


def test_times_are_said_in_three_digits() -> None:
    assert [seconds(ms) for ms in (0, 850, 1_250, 12_340, 340_000)] == ["0 ms", "850 ms", "1.25 s", "12.3 s", "340 s"]
    assert [micro(us) for us in (85, 4_200, 850_000, 1_250_000)] == ["85 µs", "4.2 ms", "850 ms", "1.25 s"]


def test_the_parts_of_a_bar_meet() -> None:
    assert str(bar((1, 1, 0, 2), 4)).count("<rect") == 3
    assert 'class="p3" x="50%" width="50%"' in bar((1, 1, 0, 2), 4)
    assert "<rect" not in bar((0, 0, 0, 0), 0)
