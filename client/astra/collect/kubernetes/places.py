"""How far each container's log was delivered: a small journal on disk, a line a change, the last one counts."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import IO

from astra.collect.kubernetes.loglines import Place

log = logging.getLogger("astra.collect")

WORN_LINES = 1_000


class Places:
    """The places by the logs' keys; `path` None: nothing outlives the process."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.of: dict[str, Place] = {}
        self.file: IO[str] | None = None
        self.lines = 0
        if path is not None:
            self._read(path)
            self._rewrite(path)

    def put(self, key: str, place: Place) -> None:
        if self.of.get(key) != place:
            self.of[key] = place
            self._append(json.dumps([key, place.last, place.marks, place.done]))

    def forget(self, key: str) -> None:
        if self.of.pop(key, None) is not None:
            self._append(json.dumps([key]))

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None

    def _append(self, line: str) -> None:
        if self.file is None or self.path is None:
            return
        try:
            self.file.write(f"{line}\n")
            self.file.flush()
        except OSError as error:
            log.error("How far logs were read could not be written to %s: %s.", self.path, error.strerror)  # noqa: TRY400
            return
        self.lines += 1
        if self.lines > WORN_LINES + 4 * len(self.of):
            self._rewrite(self.path)

    def _read(self, path: Path) -> None:
        """A last line that was cut off by a death says nothing: what is after the place before it is read again."""
        try:
            written = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            log.error("How far logs were read cannot be read from %s: %s.", path, error.strerror)  # noqa: TRY400
            return
        for line in written:
            try:
                key, *said = json.loads(line)
                if said:
                    last, marks, done = said
                    self.of[str(key)] = Place(int(last), tuple((int(ns), str(mark)) for ns, mark in marks), bool(done))
                else:
                    self.of.pop(key, None)
            except (ValueError, TypeError):  # noqa: PERF203
                continue

    def _rewrite(self, path: Path) -> None:
        """Write what is known to a new file and put it in the place of the old one."""
        new = path.with_suffix(".new")
        lines = [json.dumps([key, place.last, place.marks, place.done]) for key, place in self.of.items()]
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            os.replace(new, path)
            self.close()
            self.file = path.open("a", encoding="utf-8")
            self.lines = len(lines)
        except OSError as error:
            log.error("How far logs were read cannot be kept in %s: %s.", path, error.strerror)  # noqa: TRY400
