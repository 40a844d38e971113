"""The package as a user installs it: a wheel, a command, no Django, and nothing at all where only `astra` is needed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import astra

CLIENT = Path(__file__).parents[2] / "client"
MODULES = sorted(path.relative_to(CLIENT).as_posix() for path in CLIENT.glob("astra/**/*.py"))
NEEDS = [
    'Requires-Dist: httpx>=0.27; extra == "api"',
    'Requires-Dist: click>=8.1; extra == "collect"',
    'Requires-Dist: httpx>=0.27; extra == "collect"',
    'Requires-Dist: prometheus-client>=0.20; extra == "collect"',
    'Requires-Dist: rich>=13; extra == "collect"',
    'Requires-Dist: astra[collect]; extra == "kubernetes"',
    'Requires-Dist: pyyaml>=6; extra == "kubernetes"',
    'Requires-Dist: click>=8.1; extra == "cli"',
    'Requires-Dist: httpx>=0.27; extra == "cli"',
    'Requires-Dist: rich>=13; extra == "cli"',
]


def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python that has this package and the standard library, and nothing else."""
    env = {"PYTHONPATH": str(CLIENT), "PATH": os.environ["PATH"]}
    return subprocess.run([sys.executable, "-S", *arguments], env=env, capture_output=True, text=True)


def wheel_of(folder: Path) -> Path:
    """Build the wheel from a copy of the sources."""
    shutil.copytree(CLIENT, folder / "client", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    done = subprocess.run([*build, str(folder), str(folder / "client")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_wheel_has_the_package_and_the_command(tmp_path: Path) -> None:
    wheel, info = wheel_of(tmp_path), f"astra-{astra.__version__}.dist-info"
    assert wheel.name == f"astra-{astra.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if not name.startswith(info)}
        assert names == {*MODULES, "astra/py.typed"}
        assert b"astra = astra.__main__:main" in packed.read(f"{info}/entry_points.txt")
        told = packed.read(f"{info}/METADATA").decode().splitlines()
    assert [line.replace("'", '"') for line in told if line.startswith("Requires-Dist")] == NEEDS
    assert "Requires-Python: >=3.9" in told


def test_importing_it_needs_the_standard_library_alone() -> None:
    look = "import sys, astra; print(*sorted({m.split('.')[0] for m in sys.modules} - sys.stdlib_module_names))"
    done = bare("-c", look)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["__main__", "astra"], "")


def test_the_command_says_which_package_it_lacks() -> None:
    done = bare("-m", "astra", "--version")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"astra: The command needs (click|httpx|rich): install .* \[cli\]\.\n", done.stderr)


def test_the_command_brings_neither_django_nor_the_ledger() -> None:
    look = "import astra.cli, sys; print([m for m in ('django', 'ledger', 'dashboards') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], cwd=CLIENT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_its_version_is_the_packages() -> None:
    done = subprocess.run([sys.executable, "-m", "astra", "--version"], cwd=CLIENT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"astra, version {astra.__version__}\n")
    assert f'version = "{astra.__version__}"' in (CLIENT / "pyproject.toml").read_text()


@pytest.mark.parametrize("module", MODULES)
def test_it_is_written_for_python_3_9(module: str) -> None:
    text = (CLIENT / module).read_text()
    ast.parse(text, feature_version=(3, 9))
    assert module.endswith("__init__.py") or "from __future__ import annotations\n" in text


@pytest.mark.soak
def test_it_installs_into_a_fresh_environment(tmp_path: Path) -> None:
    """Needs a package index, as any installation does."""
    wheel, place = wheel_of(tmp_path), tmp_path / "venv"
    venv.create(place, with_pip=True)
    install = [place / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    command = [place / "bin/astra", "--version"]
    subprocess.run([*install, wheel], check=True)
    assert subprocess.run(command, capture_output=True).returncode == 2
    subprocess.run([*install, f"{wheel}[cli]"], check=True)
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"astra, version {astra.__version__}\n")
    assert subprocess.run([place / "bin/python", "-c", "import django"], capture_output=True).returncode == 1
