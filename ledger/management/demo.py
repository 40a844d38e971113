"""Where the demo is written down: the login and tokens for people, and how far it has been played."""

import json
import os
from pathlib import Path

SEEDED_KEYS = (
    "user", "password", "token", "admin_token", "ingest_token", "cluster", "organization", "workspace",
    "shift_ms", "seeded_until_ms",
)  # fmt: skip


def read(path: Path) -> dict[str, str]:
    """Return what a file of texts says; empty when it is not there or is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def write(path: Path, values: dict[str, str]) -> None:
    """Put the values into the file beside what else it says, in one step, readable by its owner alone."""
    text = json.dumps({**read(path), **values}, indent=2) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    new.replace(path)


def is_complete(values: dict[str, str]) -> bool:
    """Whether the file says all that a seeded demo says."""
    return all(values.get(key) for key in SEEDED_KEYS)


def feed_path(demo: Path) -> Path:
    """Return the file in which the feed keeps how far it has played, beside demo.json."""
    return demo.with_name("demo_feed.json")
