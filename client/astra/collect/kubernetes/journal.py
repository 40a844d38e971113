"""What an agent must know again after it was killed: a file of lines, to which every change adds one.

A line is a JSON list. What is written is written before what it is about is sent.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

log = logging.getLogger("astra.collect")


class Journal:
    """The file at `path`; None: nothing outlives the process. `what` it holds begins the sentence of a fault.

    A disk that is full or cannot be written is said and stops nobody: the agent goes on and knows less after its death.
    """

    def __init__(self, path: Path | None, what: str) -> None:
        self.path, self.what = path, what
        self.lines = 0
        self.file: IO[str] | None = None

    def read(self) -> Iterator[list[Any]]:
        """Yield the lines, the oldest first. A last one that a death cut off says nothing."""
        if self.path is None:
            return
        try:
            written = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            self._complain("be read from", error)
            return
        for line in written:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, list):
                yield said

    def recall(self, take: Callable[[Sequence[Any]], None]) -> None:
        """Let `take` have each line, the oldest first; one that it raises ValueError or TypeError for says nothing."""
        for said in self.read():
            try:
                take(said)
            except (ValueError, TypeError):  # noqa: PERF203
                continue

    def append(self, said: Iterable[Sequence[Any]]) -> None:
        """Add lines."""
        lines = [f"{json.dumps(one)}\n" for one in said]
        if self.file is None or not lines:
            return
        try:
            self.file.write("".join(lines))
            self.file.flush()
        except OSError as error:
            self._complain("be written to", error)
            return
        self.lines += len(lines)

    def rewrite(self, said: Iterable[Sequence[Any]]) -> None:
        """Write what still counts to a new file and put it in the place of the old one; lines are added to that one."""
        if self.path is None:
            return
        new = self.path.with_suffix(".new")
        lines = [f"{json.dumps(one)}\n" for one in said]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new.write_text("".join(lines), encoding="utf-8")
            os.replace(new, self.path)
            self.close()
            self.file = self.path.open("a", encoding="utf-8")
            self.lines = len(lines)
        except OSError as error:
            self._complain("be kept in", error)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None

    def _complain(self, how: str, error: OSError) -> None:
        log.error("%s cannot %s %s: %s.", self.what, how, self.path, error.strerror)
