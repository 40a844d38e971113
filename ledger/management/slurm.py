"""Slurm's accounting for `replay`: the `astra` command reads it, as its agent does, and says it as observations."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ledger.replay.trace import BadTrace

NOTE = re.compile(r"^([\d,]+) × (.+)$")
HELD = re.compile(r"^held by its records: (\d+) GPU-us$")
MISSING = "the `astra` command reads this format: install it into this environment with pip install 'client[cli]'"


@dataclass(frozen=True)
class Accounting:
    """A dump as NDJSON observations; `held` (GPU-us) is what its records say, before the ledger."""

    body: bytes
    notes: Counter[str]
    held: int


def read(path: Path, zone: str | None) -> Accounting:
    """Read a dump of sacct, a text one with its times in `zone`. Raises BadTrace with one sentence."""
    command = [
        sys.executable,
        "-m",
        "astra",
        "collect",
        "slurm",
        "--cluster",
        "replay",
        "--dry-run",
        "--file",
        str(path),
    ]
    done = subprocess.run([*command, *(["--timezone", zone] if zone else [])], capture_output=True, check=False)
    said = done.stderr.decode(errors="replace").splitlines()
    if done.returncode != 0:
        missing = any("No module named astra" in line or "No such command" in line for line in said)
        raise BadTrace(MISSING if missing else _sentence(said, path))
    notes: Counter[str] = Counter()
    held = 0
    for line in said:
        if note := NOTE.match(line):
            notes[note[2]] += int(note[1].replace(",", ""))
        elif told := HELD.match(line):
            held = int(told[1])
    return Accounting(done.stdout, notes, held)


def _sentence(said: list[str], path: Path) -> str:
    """Return why the command failed, without its name and the file's, which are said already."""
    last = said[-1] if said else "the astra command ended without a word"
    return last.removeprefix("astra: ").removeprefix(f"{path}: ").rstrip(".")
