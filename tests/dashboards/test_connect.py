"""Empty states: the commands they offer work when they are pasted into a shell."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import click
import django
import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from astra.cli import main
from dashboards.connect import WAYS, Way, agents, first_observation, membership
from dashboards.pages import Pages
from dashboards.stalled import stalled
from ledger.decode import decode
from ledger.models import Cluster
from ledger.queries import StalledWorker
from tests.dashboards.conftest import Get
from tests.dashboards.reading import read
from tests.dashboards.world import World

ROOT = Path(__file__).parents[2]

NASTY = """a'b"c $HOME `id` $(id) \\ \\$NOW \N{SNOWMAN} & < > ; | !"""


def run_in(folder: Path, commands: str) -> tuple[list[list[str]], bytes]:
    """Run the commands with programs in the place of manage.py and curl that write down what they were given."""
    for name in ("manage.py", "curl"):
        program = folder / name
        program.write_text(
            '#!/bin/sh\nfor word in "$0" "$@"; do printf "%s\\0" "$word"; done >> "$LOG"; printf "\\n\\0" >> "$LOG"\n'
            'case "$0" in *curl) cat > "$LOG.body";; esac\necho the-token\n'
        )
        program.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "LOG": str(folder / "log"), "HOME": "/nowhere"}
    subprocess.run(["bash", "-euc", commands], cwd=folder, env=environment, check=True, capture_output=True)
    said = (folder / "log").read_text().split("\n\0")[:-1]
    body = folder / "log.body"
    return [[Path(call.split("\0")[0]).name, *call.split("\0")[1:-1]] for call in said], (
        body.read_bytes() if body.exists() else b""
    )


@pytest.mark.parametrize("workspace", ["vision", NASTY])
def test_the_first_observation_is_one(tmp_path: Path, workspace: str) -> None:
    calls, body = run_in(tmp_path, first_observation("http://127.0.0.1:8000/", "acme", workspace))
    assert calls[0] == ["manage.py", "create_cluster", "acme", "main"]
    assert calls[1] == [
        "manage.py", "create_token", "--organization", "acme", "--workspace", workspace, "--scopes", "ingest",
    ]  # fmt: skip
    assert calls[2][:4] == [
        "curl", "-sS", "http://127.0.0.1:8000/v1/clusters/main/observations", "-H",
    ]  # fmt: skip
    assert "Authorization: Bearer the-token" in calls[2]
    batch = decode(body, "application/json")
    assert batch.refused == []
    assert batch.runs[0].workspace == workspace
    assert json.loads(body)["sent_at"] == json.loads(body)["workers"][0]["at"]
    assert (batch.workers[0].gpus_milli, batch.workers[0].machine) == (8000, "gpu-1")
    assert batch.readings[0].busy_milli_percent == 87_500


def test_the_command_for_a_membership_names_the_person(tmp_path: Path) -> None:
    calls, _ = run_in(tmp_path, membership(NASTY))
    assert calls == [["manage.py", "create_user", NASTY, "--member", "ORGANIZATION/WORKSPACE"]]


def test_the_commands_find_the_environment_that_make_made() -> None:
    """Whoever pastes `./manage.py …` into a shell runs it with the system's Python, which has no Django."""
    bare = Path(sys.base_prefix) / "bin/python3"
    environment = {"PATH": "/usr/bin:/bin"}
    lacks = subprocess.run([bare, "-c", "import django"], env=environment, check=False, capture_output=True)
    assert b"ModuleNotFoundError" in lacks.stderr
    said = subprocess.run([bare, "manage.py", "version"], cwd=ROOT, env=environment, check=True, capture_output=True)
    assert said.stdout.decode().strip() == django.get_version()


def test_a_workspace_without_numbers_says_how_to_connect(get: Get) -> None:
    page = read(get("/w/acme/empty%20room/goodput"))
    command = page.by_id("connect-command").text
    assert "create_token --organization acme --workspace 'empty room' --scopes ingest" in command
    assert "http://testserver/v1/clusters/main/observations" in command
    assert page.by_id("now").text == "Now Nothing is stalled."
    assert len(page.by_id("ways-title").text) > 0
    for number, way in enumerate(WAYS, 1):
        assert page.by_id(f"way-{number}").text == way.command
    assert not [element for element in page.all() if element.attributes.get("id") in ("figures", "rows", "custom")]


def test_an_empty_cluster_says_which_agents_there_are_and_names_itself(world: World, client: Client) -> None:
    Cluster.objects.create(organization=world.east.organization, name="far west")
    client.force_login(User.objects.get(username="adam"))
    page = read(client.get("/organizations/acme/clusters/far%20west/goodput"))
    assert "ASTRALYX_CLUSTER='far west'" in page.by_id("agents-command").text
    assert "docs/sources/slurm.md" in page.by_id("sources-to-come").text


def test_what_agents_need_survives_any_name(tmp_path: Path) -> None:
    (tmp_path / "pip").write_text("#!/bin/sh\n")
    (tmp_path / "pip").chmod(0o755)
    (tmp_path / "client").mkdir()
    said = (
        agents("http://127.0.0.1:8000/", NASTY, NASTY)
        + '\n./manage.py "$ASTRALYX_CLUSTER" "$ASTRALYX_TOKEN" $ASTRALYX_API'
    )
    calls, _ = run_in(tmp_path, said)
    assert calls == [
        ["manage.py", "create_cluster", NASTY, NASTY],
        ["manage.py", "create_token", "--organization", NASTY, "--scopes", "ingest,read"],
        ["manage.py", NASTY, "the-token", "http://127.0.0.1:8000"],
    ]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_each_way_is_a_command_that_there_is_and_a_page_that_there_is(way: Way) -> None:
    assert (ROOT / way.more).is_file()
    words = [word for word in shlex.split(way.command) if not word.startswith("ASTRALYX_")]
    if words[0] == "python":
        assert (ROOT / words[1]).is_file()
        return
    command: click.Command = main
    args = words[1:]
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), args.pop(0))
        assert found is not None
        command = found
    known = {option for parameter in command.params for option in parameter.opts}
    assert known.issuperset(word for word in args if word.startswith("--"))


# --- pages of rows --------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 100))
def test_pages_cover_every_row_once(count: int, page: int, rows: int) -> None:
    pages = Pages(count, min(page, Pages(count, 1, rows).last), rows)
    assert (pages.last - 1) * rows < max(count, 1) <= pages.last * rows
    assert pages.first_row - 1 == (pages.page - 1) * rows
    assert pages.last_row == min(pages.page * rows, count)
    assert (pages.previous or 0) == pages.page - 1
    assert pages.next == (pages.page + 1 if pages.page < pages.last else None)


# --- who is stalled --------------------------------------------------------------------------------------------


def worker(run: str, number: int, since: int, machine: str = "gpu-1", workspace: str = "vision") -> StalledWorker:
    return StalledWorker(workspace, run, f"uid-{run}", f"worker-{number}", machine, "h100", since, 7, 8000)


def test_a_gang_is_one_line_and_the_costliest_comes_first() -> None:
    found = stalled([worker("small", 0, 5), *(worker("gang", n, 10 + n, f"gpu-{n // 2}") for n in range(4))])
    assert [run.run for run in found.runs] == ["gang", "small"]
    assert (found.workers, found.gpus_milli, found.more) == (5, 40_000, False)
    gang = found.runs[0]
    assert (gang.since, gang.machines, gang.gpus_milli, gang.first.worker) == (10, 2, 32_000, "worker-0")


def test_runs_of_one_name_are_two_lines() -> None:
    twin = worker("llm", 0, 5)._replace(uid="uid-other")
    assert len(stalled([worker("llm", 0, 5), twin]).runs) == 2


def test_five_lines_are_shown_and_the_rest_can_be_opened() -> None:
    found = stalled(worker(f"run-{number}", 0, number) for number in range(8))
    assert (len(found.shown), len(found.rest)) == (5, 3)
    assert found.shown + found.rest == found.runs
