"""demo.json: what `make run` tells a person and a script about the demo it serves."""

from __future__ import annotations

import json
import os
from pathlib import Path

SEEDED_KEYS = ("user", "password", "token")


def read(path: Path) -> dict[str, str]:
    """What the file says; empty when it is not there or is no JSON object."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_seeded(values: dict[str, str]) -> bool:
    """Whether the demo's tenants and back-fill are complete: the seeding writes the file last."""
    return all(values.get(key) for key in SEEDED_KEYS)


def write(path: Path, values: dict[str, str]) -> None:
    """Replace the file in one step, readable by its owner alone."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        json.dump(values, out, indent=2)
        out.write("\n")
    new.replace(path)
