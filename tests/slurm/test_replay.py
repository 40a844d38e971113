"""`manage.py replay --format sacct`: the accounting of a Slurm cluster as a person back-fills it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from ledger import queries
from ledger.access import scope_of_organization
from ledger.core.windows import Window
from ledger.models import Cluster, Organization, Run, Workspace
from tests.replay.commands import say
from tests.slurm.recorded import FOLDER as RECORDED

pytestmark = pytest.mark.django_db

WHERE = ("--organization", "acme", "--cluster", "alpha")
OLD = RECORDED.parent / "slurm"


def replay(file: Path, *more: str) -> list[str]:
    return say("replay", str(file), "--format", "sacct", *WHERE, *more)


def total() -> object:
    scope = scope_of_organization(Organization.objects.get(name="acme"))
    return queries.goodput(scope, Window.last_days(queries.now(), 7)).total


def test_the_recorded_accounting_end_to_end() -> None:
    lines = replay(RECORDED / "sacct_D.json", "--end-at", "now")
    assert lines[:2] == ["organization acme created", "cluster acme/alpha created"]
    assert "6 × job without GPUs: in no ledger" in lines
    assert any(line.startswith("the ledger: held 1.972 GPU-hours") for line in lines), lines
    assert any(line.startswith("the file:   held 1.972 GPU-hours") for line in lines), lines
    by_ledger, by_file = (line[12:] for line in lines if line.startswith("the "))
    assert by_ledger == by_file
    assert any(" 0 late, 0 refused" in line for line in lines)
    assert not any("unobserved" in line for line in lines)
    assert set(Workspace.objects.values_list("name", flat=True)) == {"lab1", "lab2"}


def test_again_it_changes_nothing() -> None:
    replay(RECORDED / "sacct_D.json", "--end-at", "now")
    before, runs = total(), Run.objects.count()
    lines = replay(RECORDED / "sacct_D.json", "--end-at", "now")
    assert "runs of this file are here already: going on with them, at the same time" in lines
    assert (total(), Run.objects.count()) == (before, runs)


def test_text_needs_the_zone_of_its_times() -> None:
    with pytest.raises(CommandError, match="--timezone"):
        replay(RECORDED / "sacct_P_D.txt", "--end-at", "now")
    lines = replay(RECORDED / "sacct_P_D.txt", "--timezone", "Asia/Kathmandu", "--end-at", "now")
    assert "1 × job still going when the file was made: it stops there" in lines
    with pytest.raises(CommandError, match="time zone"):
        replay(RECORDED / "sacct_P_D.txt", "--timezone", "Mars/Olympus")


def test_all_runs_go_to_one_workspace_when_it_is_said() -> None:
    replay(RECORDED / "sacct_D.json", "--workspace", "everyone", "--end-at", "now")
    assert set(Run.objects.values_list("workspace__name", flat=True)) == {"everyone"}


def test_a_file_without_accounts_needs_a_workspace(tmp_path: Path) -> None:
    file = tmp_path / "sacct.txt"
    file.write_text(
        "JobID|State|Submit|Start|End|AllocTRES|NodeList\n"
        "7|COMPLETED|2026-11-01T10:00:00|2026-11-01T10:00:00|2026-11-01T10:30:00|gres/gpu=2|n1\n"
    )
    with pytest.raises(CommandError, match="--workspace"):
        replay(file, "--timezone", "UTC")
    lines = replay(file, "--timezone", "UTC", "--workspace", "w", "--end-at", "now")
    assert "the ledger: held 1.000 GPU-hours, waiting 0.000 GPU-hours" in lines


def test_what_is_older_than_400_days_is_moved_to_now() -> None:
    lines = replay(OLD / "sacct_mila_1708819200.json")
    assert "the ledger: held 10.144 GPU-hours" in "\n".join(lines)


def test_readings_are_not_expected_of_its_cluster() -> None:
    replay(RECORDED / "sacct_D.json", "--end-at", "now")
    cluster = Cluster.objects.get(name="alpha")
    assert [rule.readings_expected for rule in cluster.clusterrule_set.all()] == [False]


def test_what_is_no_accounting_is_refused_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("hello\n")
    with pytest.raises(CommandError, match="no record of sacct can be read in it"):
        replay(file)
