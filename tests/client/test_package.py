"""The package as a user installs it: a wheel, a command, no Django."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from click.testing import CliRunner

import astra
from astra.cli import main

CLIENT = Path(__file__).parents[2] / "client"


def test_the_command_tells_its_version() -> None:
    done = CliRunner().invoke(main, ["--version"])
    assert (done.exit_code, done.output) == (0, f"astra, version {astra.__version__}\n")


def test_the_wheel_has_the_package_and_the_command(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    source = tmp_path / "client"
    subprocess.run(["cp", "-r", str(CLIENT), str(source)], check=True)
    done = subprocess.run([*build, str(tmp_path), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("astra-*.whl")
    assert wheel.name == f"astra-{astra.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        assert {"astra/__init__.py", "astra/api.py", "astra/cli.py", "astra/py.typed"} <= set(names)
        assert {name.split("/")[0] for name in names} == {"astra", f"astra-{astra.__version__}.dist-info"}
        info = f"astra-{astra.__version__}.dist-info"
        assert b"astra = astra.cli:main" in packed.read(f"{info}/entry_points.txt")
        needs = [
            line for line in packed.read(f"{info}/METADATA").decode().splitlines() if line.startswith("Requires-Dist")
        ]
    assert needs == ["Requires-Dist: click>=8.1", "Requires-Dist: httpx>=0.27"]


def test_importing_it_brings_neither_django_nor_the_ledger() -> None:
    look = (
        "import astra.api, astra.cli, sys; print([m for m in ('django', 'ledger', 'dashboards') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=CLIENT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
