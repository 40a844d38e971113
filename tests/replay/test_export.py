"""An export told to another cluster gives the same ledger, whatever it was that had been told."""

import io
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command

from ledger.batches import Batch
from ledger.categorizer import categorize
from ledger.core.categories import Phase
from ledger.ingest import ingest
from ledger.management import exporting
from ledger.models import Cluster, Run, Worker
from ledger.replay import observations
from ledger.replay.wire import lines_of
from tests.dashboards.world import run, state
from tests.deliveries import deliver, end_of, random_world
from tests.evidence import Settings
from tests.postgres_world import cells, make_cluster, tell
from tests.replay.commands import say
from tests.replay.test_replay_command import replay, small
from tests.worlds import MONDAY

pytestmark = pytest.mark.django_db


def told_again(cluster: Cluster, other: Cluster, now: int) -> None:
    lines = "".join(line for batch in exporting.batches(cluster) for line in lines_of(batch))
    for batch in observations.read(lines.encode()):
        receipt = ingest(other, batch, now=now)
        assert not receipt.refused
        assert receipt.late == 0
    categorize(other, now=now)


def agree(seed: int) -> None:
    world, dice = random_world(seed), Random(seed)
    way = deliver(world, dice)
    until = end_of(world, way)
    cluster = make_cluster(world.settings, way[0].now)
    tell(cluster, way, until, dice)
    other = make_cluster(world.settings, way[0].now)
    told_again(cluster, other, until)
    assert cells(other, until) == cells(cluster, until), seed


@pytest.mark.parametrize("seed", range(15))
def test_any_world_is_the_same_again(seed: int) -> None:
    agree(seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(15, 500))
def test_more_worlds_are_the_same_again(seed: int) -> None:
    agree(seed)


def test_an_export_of_an_export_is_the_same_text(tmp_path: Path) -> None:
    replay(small(tmp_path))
    first = exported("philly")
    file = tmp_path / "own.ndjson"
    file.write_text(first)
    say("create_cluster", "acme", "second", "--readings", "none")
    where = ("--organization", "acme", "--cluster", "second", "--workspace", "w")
    lines = say("replay", str(file), "--format", "observations", *where)
    assert "the ledger: held 10.667 GPU-hours, waiting 2.000 GPU-hours" in lines
    assert exported("second") == first
    labels = [
        Run.objects.filter(cluster__name=name).values("uid", "name", "kind", "submitted_at")
        for name in ("philly", "second")
    ]
    assert list(labels[0]) == list(labels[1])


def test_where_the_readings_of_a_worker_are_found_is_told_again() -> None:
    cluster, other = (make_cluster(Settings(), MONDAY) for _ in range(2))
    told = Batch("test", MONDAY + 5_000)
    run(told, "llm", "ana", MONDAY)
    placed = {"gpus_milli": 2_000, "machine": "gpu-1", "pool": "h100"}
    state(told, "llm", "worker-0", MONDAY, Phase.STARTING, **placed, pod="vision/llm-0", devices=("0", "1"))
    state(told, "llm", "worker-0", MONDAY + 1_000, Phase.RUNNING)
    state(told, "llm", "worker-1", MONDAY, Phase.RUNNING, **placed, devices=("GPU-7",))
    state(told, "llm", "worker-2", MONDAY, Phase.PENDING)
    assert not ingest(cluster, told, now=MONDAY + 5_000).refused
    told_again(cluster, other, MONDAY + 5_000)
    found = [
        list(Worker.objects.filter(cluster=one).order_by("name").values_list("name", "pod", "devices"))
        for one in (cluster, other)
    ]
    assert found[0] == [("worker-0", "vision/llm-0", "0,1"), ("worker-1", "", "GPU-7"), ("worker-2", "", "")]
    assert found[1] == found[0]


def exported(cluster: str) -> str:
    out = io.StringIO()
    call_command("export", "--organization", "acme", "--cluster", cluster, stdout=out)
    return out.getvalue()


def test_an_empty_cluster_has_nothing_to_say() -> None:
    say("create_organization", "acme")
    say("create_cluster", "acme", "philly")
    assert exported("philly") == ""
