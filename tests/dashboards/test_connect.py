"""Empty states: the commands they offer work when they are pasted into a shell."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.connect import first_observation, membership
from dashboards.pages import Pages
from dashboards.stalled import stalled
from ledger.decode import decode
from ledger.queries import StalledWorker
from tests.dashboards.conftest import Get
from tests.dashboards.reading import read

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


def test_a_workspace_without_numbers_says_how_to_connect(get: Get) -> None:
    page = read(get("/w/acme/empty%20room/goodput"))
    command = page.by_id("connect-command").text
    assert "create_token --organization acme --workspace 'empty room' --scopes ingest" in command
    assert "http://testserver/v1/clusters/main/observations" in command
    assert page.by_id("now").text == "Now Nothing is stalled."
    assert not [element for element in page.all() if element.attributes.get("id") in ("figures", "rows", "custom")]


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
