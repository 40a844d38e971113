"""Slurm for real: what sacct and sreport say, the ledger says too, to the second."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.collect.slurm import gpus
from tests.site.running import Running, eventually, free_port
from tests.slurm.alpha import Alpha
from tests.slurm.scenario import Ledger, Seen, folder_for, play, seconds, utc

HOUR_ENDS_AFTER = 125


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    """All of it, once."""
    root = folder_for(Path(tempfile.mkdtemp(prefix="alpha-")))
    try:
        with Running(root / "state", free_port()) as running, Alpha(root / "slurm", HOUR_ENDS_AFTER) as alpha:
            eventually(running.is_well, 90)
            ledger = Ledger(running)
            try:
                yield play(alpha, ledger)
            except BaseException:
                print(alpha.logs())
                raise
            finally:
                ledger.kill_agent()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def held_by(records: list[dict[str, str]]) -> float:
    """Return the GPU-seconds between Start and End of records of sacct."""
    placed = [row for row in records if row["AllocTRES"]]
    return sum((utc(row["End"]) - utc(row["Start"])) * gpus.of_tres(row["AllocTRES"]) / 1000 for row in placed)


def test_each_job_holds_what_sacct_says_to_the_second(seen: Seen) -> None:
    told = {job: held_by(rows) for job, rows in seen.records.items() if held_by(rows)}
    found: Counter[str] = Counter()
    for run in seen.runs:
        lanes = seen.timelines[run["uid"]]
        found[run["uid"].partition("-")[0]] += sum(
            seconds(each) for lane in lanes for each in lane["segments"] if each["held"]
        )
    assert {job: amount for job, amount in found.items() if amount} == told
    assert len(told) == 14


def test_each_account_and_user_used_what_sreport_says_to_the_second(seen: Seen) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for run in seen.runs:
        for lane in seen.timelines[run["uid"]]:
            found[run["workspace"], run["user"]] += sum(
                seconds(each, seen.window) for each in lane["segments"] if each["held"]
            )
    assert {key: amount for key, amount in found.items() if amount} == seen.used
    assert set(seen.used) == {("lab1", "root"), ("lab1", "daemon"), ("lab2", "root"), ("lab2", "daemon")}


def test_the_outcomes_are_those_of_slurm(seen: Seen) -> None:
    names = ("complete", "fail", "timeout", "cancel", "victim", "scav", "doomed", "again", "suspend")
    assert {name: seen.run(name)["outcome"] for name in names} == {
        "complete": "COMPLETED",
        "fail": "FAILED",
        "timeout": "TIMEOUT",
        "cancel": "CANCELLED",
        "victim": "COMPLETED",
        "scav": "PREEMPTED",
        "doomed": "NODE_FAIL",
        "again": "COMPLETED",
        "suspend": "COMPLETED",
    }


def test_jobs_without_gpus_and_tasks_of_arrays(seen: Seen) -> None:
    uids = {run["uid"].partition("-")[0] for run in seen.runs}
    assert seen.jobs["cpu"] not in uids
    assert {f"{seen.jobs['array']}_0", f"{seen.jobs['array']}_1"} <= uids


def test_a_gang_has_a_worker_for_each_node(seen: Seen) -> None:
    machines = {each["machine"] for lane in seen.lanes("complete") for each in lane["segments"] if each["held"]}
    assert ([lane["worker"] for lane in seen.lanes("complete")], machines) == (["node-0", "node-1"], {"node1", "node2"})


def test_a_preempted_job_waits_and_begins_again(seen: Seen) -> None:
    first, second = seen.records[seen.jobs["victim"]]
    assert first["State"] == "PREEMPTED"
    between = (utc(second["Start"]) - utc(first["End"])) * 8
    assert seen.amount("victim", "preemption", held=False) == between
    assert seen.amount("victim", "restart", held=True) > 0
    assert seen.amount("victim", "starting", held=True) > 0


def test_a_job_that_its_owner_queued_again_waits(seen: Seen) -> None:
    first, second = seen.records[seen.jobs["again"]]
    assert first["State"] == "REQUEUED"
    assert seen.amount("again", "waiting", held=False) >= (utc(second["Start"]) - utc(first["End"])) * 3
    assert seen.amount("again", "failure", held=False) == 0


def test_the_grace_of_a_preempted_job_is_preemption(seen: Seen) -> None:
    (record,) = seen.records[seen.jobs["scav"]]
    assert record["State"] == "PREEMPTED"
    assert seen.amount("scav", "preemption", held=True) >= 5 * 2


def test_suspended_time_is_idle(seen: Seen) -> None:
    (record,) = seen.records[seen.jobs["suspend"]]
    suspended = sum(int(part) * unit for part, unit in zip(record["Suspended"].split(":"), (3600, 60, 1), strict=True))
    assert suspended >= 3
    assert seen.amount("suspend", "idle", held=True) == suspended, seen.lanes("suspend")[0]["segments"]


def test_a_node_that_died_is_failure_though_the_job_still_runs(seen: Seen) -> None:
    (record,) = seen.records[seen.jobs["doomed"]]
    assert record["State"] == "NODE_FAIL"
    assert seen.amount("doomed", "failure", held=True) > 0
    assert seen.amount("doomed", "productive", held=True) > 0


def test_a_job_that_could_never_begin_counts_nothing(seen: Seen) -> None:
    mine = [run for run in seen.runs if run["uid"].startswith(seen.jobs["never"] + "-")]
    assert [lane for run in mine for lane in seen.timelines[run["uid"]]] == []


def test_the_ledger_is_whole(seen: Seen) -> None:
    assert "0 differences" in seen.checked
