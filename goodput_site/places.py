"""Where the embedded installation keeps its things.

The state folder holds what a person looks for: demo.json, logs, the secret key. Postgres wants more of a
place than that: its owner must be able to reach it, and a socket's path has at most 107 bytes.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_BYTES_MAX = 107


@dataclass(frozen=True)
class Places:
    """Absolute paths of one installation."""

    state: Path
    postgres: Path
    sockets: Path

    @property
    def data(self) -> Path:
        """The Postgres data folder."""
        return self.postgres / "data"

    @property
    def logs(self) -> Path:
        """One file a process."""
        return self.state / "logs"

    @property
    def demo(self) -> Path:
        """Where `make run` writes the address, the demo login and the tokens."""
        return self.state / "demo.json"

    @property
    def secret_key(self) -> Path:
        """The generated SECRET_KEY."""
        return self.state / "secret_key"

    @property
    def moved(self) -> bool:
        """Whether Postgres could not live in the state folder."""
        return self.state not in self.postgres.parents


def places(environ: Mapping[str, str] | None = None) -> Places:
    """The places of the installation that `GOODPUT_STATE` names (default `.state` in the checkout)."""
    named = (os.environ if environ is None else environ).get("GOODPUT_STATE")
    state = Path(named).absolute() if named else CHECKOUT / ".state"
    return places_of(state, os.geteuid())


def places_of(state: Path, uid: int) -> Places:
    """The places for a state folder; as root Postgres moves out of folders that others may not enter."""
    tag = hashlib.sha256(os.fsencode(state)).hexdigest()[:10]
    postgres = state / "postgres"
    if uid == 0 and not others_may_enter(state):
        postgres = Path("/var/lib/goodput") / tag
    sockets = postgres / "socket"
    if not socket_path_fits(sockets):
        sockets = Path(f"/tmp/goodput-{uid}-{tag}")  # noqa: S108  made 0700 and its owner checked
    return Places(state=state, postgres=postgres, sockets=sockets)


def others_may_enter(folder: Path) -> bool:
    """Whether each folder above `folder` lets every user through; nothing is changed to make it so."""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents if parent.exists())


def socket_path_fits(folder: Path) -> bool:
    """Whether a socket in `folder` can be bound, and be written unquoted in a connection string."""
    text = str(folder / SOCKET_NAME)
    plain = text.isascii() and all(c.isalnum() or c in "/._-+" for c in text)
    return plain and len(os.fsencode(text)) <= SOCKET_PATH_BYTES_MAX
