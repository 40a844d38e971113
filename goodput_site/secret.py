"""The SECRET_KEY of an embedded installation: made once, kept in the state folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def generated_key(path: Path | None) -> str:
    """The key kept in `path`, made when there is none yet; without a path a key for this process alone."""
    key = secrets.token_urlsafe(50)
    if path is None:
        return key
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mine = path.with_name(f"{path.name}.{os.getpid()}")
    mine.unlink(missing_ok=True)
    handle = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        out.write(key)
    try:
        os.link(mine, path)
    except FileExistsError:
        key = path.read_text()
    finally:
        mine.unlink()
    return key
