"""An export told to another cluster gives the same ledger, whatever it was that had been told."""

import io
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command

from ledger.categorizer import categorize
from ledger.ingest import ingest
from ledger.management import exporting
from ledger.models import Cluster, Run
from ledger.replay import observations
from ledger.replay.wire import lines_of
from tests.deliveries import deliver, end_of, random_world
from tests.postgres_world import cells, make_cluster, tell
from tests.replay.commands import say
from tests.replay.test_replay_command import replay, small

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


def exported(cluster: str) -> str:
    out = io.StringIO()
    call_command("export", "--organization", "acme", "--cluster", cluster, stdout=out)
    return out.getvalue()


def test_an_empty_cluster_has_nothing_to_say() -> None:
    say("create_organization", "acme")
    say("create_cluster", "acme", "philly")
    assert exported("philly") == ""
