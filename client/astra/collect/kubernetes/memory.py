"""What an agent must still know after it was killed and the objects no longer say: a small journal on disk.

A line a worker and a change of it; the last line counts. It is written before what it is about is sent.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, NamedTuple

log = logging.getLogger("astra.collect")

WORN_LINES = 10_000


class Memo(NamedTuple):
    """The newest pod of a worker: how many attempts came before it, its restarts, what it held; ms, thousandths.

    `asked`: since when, where the job's creation does not say it. `released`: since when it holds nothing;
    `ended`: and its worker was over with it.
    """

    run: str
    worker: str
    pod: str = ""
    created: int = 0
    base: int = 0
    restarts: int = 0
    milli: int = 0
    pool: str = ""
    asked: int | None = None
    released: int | None = None
    ended: bool = False
    cause: str = ""


class Memory:
    """The memos of all workers that live; `path` None: nothing outlives the process."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.memos: dict[str, dict[str, Memo]] = {}
        self.lines = 0
        self.file: IO[str] | None = None
        if path is not None:
            self._read(path)
            self._rewrite()

    def of(self, run: str) -> dict[str, Memo]:
        """Return the memos of a run's workers."""
        return self.memos.get(run, {})

    def put(self, memos: Iterable[Memo]) -> None:
        """Remember workers as they are now."""
        lines = []
        for memo in memos:
            known = self.memos.setdefault(memo.run, {})
            if known.get(memo.worker) != memo:
                known[memo.worker] = memo
                lines.append(json.dumps(memo))
        self._append(lines)

    def forget(self, run: str) -> None:
        """Forget a run that is over and whose objects are gone."""
        if self.memos.pop(run, None):
            self._append([json.dumps([run])])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None

    def _append(self, lines: list[str]) -> None:
        if self.file is None or not lines:
            return
        try:
            self.file.write("".join(f"{line}\n" for line in lines))
            self.file.flush()
        except OSError as error:
            log.error("What is known of workers could not be written to %s: %s.", self.path, error.strerror)  # noqa: TRY400
            return
        self.lines += len(lines)
        if self.lines > WORN_LINES + 4 * sum(map(len, self.memos.values())):
            self._rewrite()

    def _read(self, path: Path) -> None:
        """A last line that was cut off by a death says nothing."""
        try:
            written = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            log.error("What is known of workers cannot be read from %s: %s.", path, error.strerror)  # noqa: TRY400
            return
        for line in written:
            try:
                said = json.loads(line)
                if len(said) == 1:
                    self.memos.pop(said[0], None)
                else:
                    memo = Memo(*said)
                    self.memos.setdefault(memo.run, {})[memo.worker] = memo
            except (ValueError, TypeError):  # noqa: PERF203
                continue

    def _rewrite(self) -> None:
        """Write what is known to a new file and put it in the place of the old one."""
        assert self.path is not None
        new = self.path.with_suffix(".new")
        memos = [memo for run in self.memos.values() for memo in run.values()]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new.write_text("".join(f"{json.dumps(memo)}\n" for memo in memos), encoding="utf-8")
            os.replace(new, self.path)
            if self.file is not None:
                self.file.close()
            self.file = self.path.open("a", encoding="utf-8")
            self.lines = len(memos)
        except OSError as error:
            log.error("What is known of workers cannot be kept in %s: %s.", self.path, error.strerror)  # noqa: TRY400
