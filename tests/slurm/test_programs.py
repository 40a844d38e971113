"""Slurm's programs as the agent runs them: stand-ins that speak JSON, that do not, that fail, that hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from astra.collect.slurm.programs import Programs
from astra.collect.slurm.squeue_text import COLUMNS
from astra.collect.source import SourceError
from tests.slurm.recorded import FOLDER

SNAPSHOT = FOLDER / "snapshots/08_uneven"


def program(folder: Path, name: str, script: str) -> None:
    """Put a stand-in into a folder; it notes with what it was called."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$TZ $*" >> {folder}/{name}.called\n{script}\n')
    path.chmod(0o755)


def called(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.called").read_text().splitlines()


def test_json_is_asked_for_first_and_with_earlier_attempts(tmp_path: Path) -> None:
    program(tmp_path, "squeue", f"cat {SNAPSHOT}/squeue.json")
    program(tmp_path, "sacct", f"cat {FOLDER}/sacct_D.json")
    slurm = Programs(str(tmp_path))
    held = {record.job.name: record.held for record in slurm.queue()[0] if record.state == "RUNNING"}
    assert held["4133"] == (2000, 1000)
    assert len(slurm.accounted(datetime(2026, 11, 29, tzinfo=UTC))) == 54
    assert called(tmp_path, "squeue") == ["UTC --json --all --states=all"]
    assert called(tmp_path, "sacct") == ["UTC --json --duplicates --starttime=2026-11-29T00:00:00 --allusers"]


def test_a_version_without_json_is_asked_for_text_once_and_for_all(tmp_path: Path) -> None:
    row = dict.fromkeys(COLUMNS, "N/A") | {
        "JOBARRAYID": "4110_2", "JOBID": "4119", "NAME": "grid", "USERNAME": "ana", "ACCOUNT": "lab2",
        "PARTITION": "h100", "STATE": "RUNNING", "REASON": "Prolog", "NUMNODES": "1", "NODELIST": "node4",
        "SUBMITTIME": "2026-11-29T15:05:22",
        "ELIGIBLETIME": "2026-11-29T15:05:37", "STARTTIME": "2026-11-29T15:05:37", "RESTARTCNT": "0",
        "TRES_ALLOC": "cpu=1,gres/gpu:h100=1,gres/gpu=1",
    }  # fmt: skip
    line = "".join(f"{row[name]}|#" for name in COLUMNS)
    program(tmp_path, "squeue", f"case \"$*\" in *json*) echo 'unrecognized option' >&2; exit 1;; esac\necho '{line}'")
    slurm = Programs(str(tmp_path))
    for _ in range(2):
        ((record,), whole) = slurm.queue()
        assert whole
        assert (record.job.name, record.held, record.reason, record.restarts) == ("4110_2", (1000,), "Prolog", 0)
        assert record.start == 1795964737000
    assert ["json" in line for line in called(tmp_path, "squeue")] == [True, False, False]


def test_sacct_without_json_is_read_as_text(tmp_path: Path) -> None:
    text = f"cat {FOLDER}/sacct_P_D_X_utc.txt"
    program(tmp_path, "sacct", f'case "$*" in *json*) exit 1;; esac\n{text}')
    assert len(Programs(str(tmp_path)).jobs(["4101", "4110_3"])) == 54
    assert called(tmp_path, "sacct")[1].startswith("UTC --parsable2 --duplicates --format=JobID,")
    assert called(tmp_path, "sacct")[1].endswith("--jobs=4101,4110_3")


def test_many_jobs_are_asked_for_in_parts(tmp_path: Path) -> None:
    program(tmp_path, "sacct", "echo '{\"jobs\": []}'")
    assert Programs(str(tmp_path)).jobs([str(number) for number in range(450)]) == []
    assert len(called(tmp_path, "sacct")) == 3


def test_what_fails_is_said_in_a_sentence(tmp_path: Path) -> None:
    program(tmp_path, "scontrol", "echo 'slurm_load_node error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(SourceError, match=r"^scontrol ended with 1: slurm_load_node error: Unable to contact"):
        Programs(str(tmp_path)).nodes()
    with pytest.raises(SourceError, match="is not there: this runs where Slurm's programs are"):
        Programs(str(tmp_path / "nowhere")).nodes()
    program(tmp_path, "scontrol", "exec sleep 60")
    with pytest.raises(SourceError, match="did not answer within"):
        Programs(str(tmp_path), timeout=0.2).nodes()


def test_once_json_was_spoken_a_failure_is_no_reason_for_text(tmp_path: Path) -> None:
    program(tmp_path, "squeue", "echo '{\"jobs\": []}'")
    slurm = Programs(str(tmp_path))
    assert slurm.queue() == ([], True)
    program(tmp_path, "squeue", "exit 1")
    with pytest.raises(SourceError):
        slurm.queue()


def test_one_bad_job_does_not_hide_the_others(tmp_path: Path) -> None:
    body = json.loads((SNAPSHOT / "squeue.json").read_text())
    good = len(body["jobs"])
    body["jobs"] += [{"job_id": None}, {"job_id": 5, "nodes": "n[1-", "job_state": "RUNNING"}, None, "x"]
    (tmp_path / "body.json").write_text(json.dumps(body))
    program(tmp_path, "squeue", f"cat {tmp_path}/body.json")
    slurm = Programs(str(tmp_path))
    found, whole = slurm.queue()
    assert (len(found) >= good, whole) == (True, False)
    assert sum(slurm.notes.values()) == 4


def test_the_command_prints_what_it_would_send(tmp_path: Path) -> None:
    """As a process: a list of now, as NDJSON."""
    program(tmp_path, "squeue", f"cat {SNAPSHOT}/squeue.json")
    program(tmp_path, "sacct", f"cat {FOLDER}/sacct_D.json")
    program(tmp_path, "scontrol", f"cat {FOLDER}/scontrol_show_node_o.txt")
    command = [sys.executable, "-m", "astra", "collect", "slurm", "--cluster", "alpha", "--once", "--dry-run"]
    done = subprocess.run(
        [*command, "--programs", str(tmp_path)], capture_output=True, text=True, timeout=60,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[0]["source"] == "slurm/alpha"
    assert {item["name"] for item in told if item.get("list") == "machines"} == {f"node{k}" for k in range(1, 6)}
    running = {item["run"].partition("-")[0] for item in told if item.get("phase") == "running"}
    assert {"4102", "4132", "4133"} <= running


def test_without_slurm_the_command_says_so() -> None:
    command = [sys.executable, "-m", "astra", "collect", "slurm", "--cluster", "x", "--once", "--dry-run"]
    done = subprocess.run([*command, "--programs", "/nowhere"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "astra: /nowhere/squeue is not there: this runs where Slurm's programs are."
    )
