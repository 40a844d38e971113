"""The containers of a whole installation: what they run is there, and what they set is a setting."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).parents[2]
COMPOSE = TOP / "deploy/compose"
RECIPE = (COMPOSE / "Containerfile").read_text()
SETTINGS = set(re.findall(r"^\| `(\w+)` \|", (TOP / "docs/operations.md").read_text(), re.MULTILINE))


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]
    return found


OURS = {name: service for name, service in services().items() if service["image"] == "goodput"}


def test_every_process_is_there_and_starts_after_the_tables_are_made() -> None:
    assert set(OURS) == {"migrate", "web", "worker", "beat"}
    for name in ("web", "worker", "beat"):
        assert OURS[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}


@pytest.mark.parametrize("name", OURS)
def test_what_is_set_is_a_setting(name: str) -> None:
    assert set(OURS[name]["environment"]) <= SETTINGS


def test_every_variable_is_in_the_example() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (COMPOSE / "compose.yaml").read_text()))
    assert asked == set(re.findall(r"^(\w+)=", (COMPOSE / "env.example").read_text(), re.MULTILINE))


def test_the_recipe_copies_what_there_is_and_all_that_runs() -> None:
    copied = re.findall(r"^COPY (\S+) \S+$", RECIPE, re.MULTILINE)
    assert [name for name in copied if not (TOP / name).exists()] == []
    assert {"manage.py", "goodput_site", "ledger", "dashboards", "templates", "static"} <= set(copied)


def test_static_files_are_collected_with_the_settings_of_the_recipe(tmp_path: Path) -> None:
    given = dict(re.findall(r"\b([A-Z_]+)=(\S+)", RECIPE[RECIPE.index("RUN DATABASE_URL") :]))
    environment = {"PATH": os.environ["PATH"], **given, "STATIC_ROOT": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--no-input"],
        cwd=TOP, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "css/tokens.css").exists()


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_a_command_is_one_that_is_installed_and_knows_its_options(name: str) -> None:
    default = re.search(r"^CMD (\[.*\])$", RECIPE, re.MULTILINE)
    assert default
    command = OURS[name].get("command") or yaml.safe_load(default[1])
    program = Path(sys.executable).with_name(command[0])
    wanted = ["worker"] if "worker" in command else ["beat"] if "beat" in command else []
    told = subprocess.run(
        [program, *command[1:3] * bool(wanted), *wanted, "--help"], cwd=TOP, capture_output=True, text=True, check=True
    )
    known = told.stdout
    assert [option for option in command[1:] if option.startswith("--") and option not in known] == []
