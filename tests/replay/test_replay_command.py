import re
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from ledger import queries
from ledger.access import scope_of_organization
from ledger.core.windows import DAY, HOUR, Window
from ledger.models import Cluster, Organization, Run, State, Workspace
from ledger.replay.trace import whole_hours
from ledger.replay.wire import instant_text
from tests.replay.commands import say
from tests.replay.traces import PHILLY, jobs

pytestmark = pytest.mark.django_db
WHERE = ("--organization", "acme", "--cluster", "philly")
MINUTE = 60_000


def small(folder: Path, *changed: dict) -> str:
    """Write a Philly file: one job waits 10 minutes, holds 8 GPUs 50 minutes, fails, waits 5, holds 30 minutes."""
    attempts = [
        {"start_time": "2017-10-07 01:10:00", "end_time": "2017-10-07 02:00:00"},
        {"start_time": "2017-10-07 02:05:00", "end_time": "2017-10-07 02:35:00"},
    ]
    file = folder / "jobs.json"
    file.write_bytes(jobs({"attempts": attempts}, *changed))
    return str(file)


def replay(file: str, *more: str) -> list[str]:
    return say("replay", file, "--format", "philly", *WHERE, *(more or ("--workspace", "w")))


def ledger():
    """Return the total of the organization's last 200 days."""
    scope = scope_of_organization(Organization.objects.get(name="acme"))
    return queries.goodput(scope, Window.last_days(queries.now(), 200)).total


def test_the_published_trace_end_to_end() -> None:
    lines = replay(str(PHILLY))
    assert lines[:3] == ["organization acme created", "cluster acme/philly created", "workspace acme/w created"]
    assert "the ledger: held 396167.202 GPU-hours, waiting 14638.118 GPU-hours" in lines
    assert "the file:   held 396167.202 GPU-hours, waiting 14638.118 GPU-hours" in lines
    assert any(re.fullmatch(r"replay philly_attempts_even.json: 100 %, 1,517 of 1,517, \d+ s", line) for line in lines)
    assert "7,472 items accepted, 0 duplicate, 0 late, 0 refused" in lines
    assert ledger().unobserved == 0


def test_it_ends_in_the_last_hour_up_to_now(tmp_path: Path) -> None:
    replay(small(tmp_path))
    now, submitted = queries.now(), Run.objects.get().submitted_at
    assert submitted is not None
    begin = round(submitted.timestamp() * 1000)
    assert begin % HOUR == 0
    assert 0 <= now - (begin + 95 * MINUTE) < HOUR + MINUTE


def test_started_again_it_goes_on_at_the_same_time(tmp_path: Path) -> None:
    file = small(tmp_path)
    replay(file)
    before, states = ledger(), State.objects.count()
    Run.objects.update(submitted_at=Run.objects.get().submitted_at)
    lines = replay(file)
    assert "runs of this file are here already: going on with them, at the same time" in lines
    assert "1 items accepted, 5 duplicate, 0 late, 0 refused" in lines
    assert (ledger(), State.objects.count()) == (before, states)


def test_an_earlier_replay_decides_where_the_rest_goes(tmp_path: Path) -> None:
    end = queries.now() - 3 * DAY
    replay(small(tmp_path), "--workspace", "w", "--end-at", instant_text(end))
    begin = Run.objects.get().submitted_at
    replay(small(tmp_path, {"id": "job-2"}))
    assert [run.submitted_at for run in Run.objects.all()] == [begin, begin]
    with pytest.raises(CommandError, match="They cannot be at two"):
        replay(small(tmp_path), "--workspace", "w", "--end-at", instant_text(end + 5 * HOUR))


def test_an_instant_can_be_given(tmp_path: Path) -> None:
    end = queries.now() - 20 * DAY
    replay(small(tmp_path), "--workspace", "w", "--end-at", instant_text(end))
    last = 1_507_343_700_000  # 2017-10-07T02:35Z
    submitted = Run.objects.get().submitted_at
    assert submitted is not None
    assert submitted.timestamp() * 1000 == last - 95 * MINUTE + whole_hours(last, end)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--workspace", "w", "--end-at", "yesterday"), '"yesterday" must be an instant with a zone'),
        (("--workspace", "w", "--end-at", "as-is"), "hours so old are not kept"),
        (("--end-at", "now"), "names no accounts: --workspace says"),
    ],
)
def test_what_cannot_be_says_why(tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        replay(small(tmp_path), *more)
    assert not Run.objects.exists()


def test_a_file_that_is_none_makes_no_tenants(tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        replay(str(file))
    file.write_text("no")
    with pytest.raises(CommandError, match="not a Philly trace"):
        replay(str(file))
    assert not Organization.objects.exists()


def test_openb_has_no_calendar(tmp_path: Path) -> None:
    file = tmp_path / "pods.csv"
    head = "name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"
    file.write_text(head + "a,1,460,Failed,0,7200,3600\nb,0,0,Running,0,7200,0\n")
    command = ("replay", str(file), "--format", "alibaba-openb", *WHERE, "--workspace", "w")
    with pytest.raises(CommandError, match="has no calendar"):
        say(*command, "--end-at", "as-is")
    lines = say(*command)
    assert "1 × pod that asks for no GPU: in no ledger" in lines
    assert "the ledger: held 0.460 GPU-hours, waiting 0.460 GPU-hours" in lines


def test_accounts_are_workspaces_unless_one_is_given(tmp_path: Path) -> None:
    file = small(tmp_path, {"id": "job-2", "vc": "vc-7"}, {"id": "job-3", "vc": "vc-8"})
    lines = replay(file, "--end-at", "now")
    assert "  refused 1: runs: workspace: a run that is new must name its workspace" in lines
    assert list(Run.objects.order_by("uid").values_list("uid", "workspace__name")) == [
        ("job-2", "vc-7"),
        ("job-3", "vc-8"),
    ]
    Run.objects.all().delete()
    replay(file)
    assert set(Run.objects.values_list("workspace__name", flat=True)) == {"w"}


def test_a_cluster_that_expects_readings_is_told_that_none_came(tmp_path: Path) -> None:
    say("create_organization", "acme")
    say("create_cluster", "acme", "philly")
    lines = replay(small(tmp_path))
    assert "100 % of the time held is unobserved: this cluster expects GPU readings, and the file has none" in lines
    total = ledger()
    assert (total.allocated, total.unobserved_productive) == (8 * 80 * MINUTE * 1000, 8 * 80 * MINUTE * 1000)


def test_observations_stay_where_they_are_unless_it_is_said(tmp_path: Path) -> None:
    file = tmp_path / "own.ndjson"
    at = (queries.now() // HOUR - 5) * HOUR
    file.write_text(
        f'{{"source": "a", "sent_at": "{instant_text(at)}"}}\n'
        f'{{"list": "runs", "uid": "r", "workspace": "vision", "submitted_at": "{instant_text(at)}"}}\n'
        f'{{"list": "workers", "run": "r", "worker": "w", "at": "{instant_text(at)}", "phase": "running", "gpus": 1}}\n'
        f'{{"list": "workers", "run": "r", "worker": "w", "at": "{instant_text(at)}", "phase": "walking"}}\n'
        f'{{"source": "a", "sent_at": "{instant_text(at + HOUR)}"}}\n'
        f'{{"list": "workers", "run": "r", "worker": "w", "at": "{instant_text(at + HOUR)}", "phase": "ended"}}\n'
    )
    command = ("replay", str(file), "--format", "observations", *WHERE)
    lines = say(*command)
    assert "3 items accepted, 0 duplicate, 0 late, 1 refused" in lines
    assert any(line.startswith("  refused 1: workers: phase:") for line in lines)
    assert "the ledger: held 1.000 GPU-hours, waiting 0.000 GPU-hours" in lines
    assert Workspace.objects.get().name == "vision"
    assert Run.objects.get().submitted_at.timestamp() * 1000 == at
    moved = say("replay", str(file), "--format", "observations", *WHERE[:3], "other", "--end-at", "now")
    assert any(line.endswith("(+4 h)") for line in moved)
    assert Cluster.objects.count() == 2


def test_the_same_file_in_two_clusters_is_counted_apart(tmp_path: Path) -> None:
    replay(small(tmp_path))
    lines = say("replay", small(tmp_path), "--format", "philly", *WHERE[:3], "second", "--workspace", "w")
    assert "the ledger: held 10.667 GPU-hours, waiting 2.000 GPU-hours" in lines
