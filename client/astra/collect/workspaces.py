"""Which workspace a source's own name (a namespace, an account) stands for."""

from __future__ import annotations

from pathlib import Path


class WorkspaceMap:
    """Names of a source to workspaces; a name that it does not say stands for itself."""

    def __init__(self, names: dict[str, str] | None = None) -> None:
        self.names = names or {}

    def of(self, name: str) -> str:
        """Return the workspace of a namespace or account."""
        return self.names.get(name, name)


def read_map(path: Path) -> WorkspaceMap:
    """Read a file of lines `name = workspace`; empty lines and those that begin with # say nothing.

    Raises ValueError with a sentence that names the line, OSError when it cannot be read.
    """
    names: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, workspace = (part.strip() for part in text.partition("="))
        if not (name and equals and workspace):
            raise ValueError(f"{path}, line {number}: must be `name = workspace`.")
        if name in names:
            raise ValueError(f"{path}, line {number}: says {name!r} a second time.")
        names[name] = workspace
    return WorkspaceMap(names)
