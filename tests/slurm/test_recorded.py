"""The recorded cluster through the mapping and the real ledger: the timelines of `expected.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from astra.collect.batches import batch_of, records
from astra.collect.items import Items
from astra.collect.slurm.files import FileSource
from astra.collect.slurm.watching import Pace, SlurmSource
from ledger import queries
from ledger.access import scope_of_organization
from ledger.categorizer import categorize
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Run
from tests.postgres_world import make_cluster
from tests.replay.telling import WITHOUT_READINGS
from tests.slurm.comparing import Stretch, differences, found, held, wanted
from tests.slurm.recorded import FOLDER, ZONE, Recorded, expected

pytestmark = pytest.mark.django_db

BEGIN, END = 1795964714_000, 1795965340_000
EXPECTED = expected()
JOBS = [job for job in EXPECTED["jobs"] if job["timeline"]]


def told_to(cluster: Cluster, each: Items, now: int) -> None:
    for record in records(each):
        body = json.dumps(batch_of("slurm/alpha", [record])).encode()
        assert ingest(cluster, decode(body, "application/json"), now=now).refused == []


def ledger_of(told: Iterable[tuple[int, Items]]) -> dict[str, list[Stretch]]:
    """Return the stretches of each run's timeline, by the beginning of its uid, after all was told."""
    cluster = make_cluster(WITHOUT_READINGS, BEGIN)
    for now, items in told:
        told_to(cluster, items, now)
    categorize(cluster, now=END + 600_000)
    scope = scope_of_organization(cluster.organization)
    ledgers: dict[str, list[Stretch]] = {}
    for uid in Run.objects.filter(cluster=cluster).values_list("uid", flat=True):
        run = queries.find_run(scope, uid)
        assert run is not None
        ledgers[uid.rpartition("-")[0]] = found(queries.timeline(run, BEGIN - 1, END + 600_000))
    return ledgers


def watched(interval: int, whole: float = 60) -> Iterable[tuple[int, Items]]:
    """Yield what the agent tells of the recording, asking each so many ms, and when (ms)."""
    slurm = Recorded()
    moment = [datetime.fromtimestamp(BEGIN / 1000, UTC)]
    source = SlurmSource("alpha", slurm, {}, Pace(nodes=1, accounts=30, whole=whole), clock=lambda: moment[0])
    for at in range(BEGIN, END, interval):
        slurm.at, moment[0] = at, datetime.fromtimestamp(at / 1000, UTC)
        for items in source.steps((at - BEGIN) / 1000):
            yield at, items


def name_of(job: dict[str, Any]) -> str:
    return str(job["job"]).partition("+")[0]


def part(job: dict[str, Any], stretches: list[Stretch]) -> list[Stretch]:
    """Return what belongs to a component of a hetjob: components lie in different pools, here on different nodes."""
    if "+" not in job["job"]:
        return stretches
    mine = {each.node for each in wanted(job) if each.node}
    waits = [each for each in stretches if not each.node and each.gpus == job["attempts"][0]["gpus_asked"]]
    return [each for each in stretches if each.node in mine] + waits


@pytest.fixture(scope="module")
def watched_each_second(django_db_setup: None, django_db_blocker: Any) -> dict[str, list[Stretch]]:
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        ledgers = ledger_of(watched(1000))
        transaction.set_rollback(True)
    return ledgers


@pytest.mark.parametrize("job", JOBS, ids=[job["job"] for job in JOBS])
def test_what_the_agent_tells_is_what_happened(
    job: dict[str, Any], watched_each_second: dict[str, list[Stretch]]
) -> None:
    want, have = wanted(job), part(job, watched_each_second.get(name_of(job), []))
    assert differences(want, have) == []
    assert held(have) == job["held_gpu_seconds"] * 1000


def test_accounting_alone_gives_the_same_held_time_and_waits() -> None:
    source = FileSource("alpha", FOLDER / "sacct_D.json", None, {})
    ledgers = ledger_of([(END, source.look())])
    for job in JOBS:
        have = part(job, ledgers.get(name_of(job), []))
        assert held(have) == job["held_gpu_seconds"] * 1000, job["job"]
    by_user: Counter[tuple[str, str]] = Counter()
    for job in JOBS:
        for each in part(job, ledgers.get(name_of(job), [])) if "[" not in job["job"] else []:
            inside = min(each.to, EXPECTED["window"]["to"] * 1000) - each.since
            by_user[job["account"], job["user"]] += max(0, inside) * each.gpus // 1000 if each.node else 0
    assert by_user == {(row["account"], row["user"]): row["gpu_seconds"] for row in EXPECTED["sreport_gpu_seconds"]}


def test_the_text_in_local_time_is_the_same_as_json() -> None:
    local = FileSource("alpha", FOLDER / "sacct_P_D.txt", ZONE, {}).look()
    whole = FileSource("alpha", FOLDER / "sacct_D.json", None, {}).look()
    late = {"4137-1795964890", "4109-1795964718", "4115-1795964722", *(f"4141_{task}-1795964975" for task in (4, 5, 6))}
    mine = [str(item) for item in local.workers if item["run"] not in late]
    assert sorted(mine) == sorted(str(item) for item in whole.workers if item["run"] not in late)
    assert len(mine) > 100
