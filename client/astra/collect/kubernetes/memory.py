"""What an agent must still know of workers after it was killed and the objects no longer say.

A line a worker and a change of it; the last line counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from astra.collect.kubernetes.journal import Journal

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
        self.memos: dict[str, dict[str, Memo]] = {}
        self.journal = Journal(path, "What is known of workers")
        self.journal.recall(self._take)
        self._rewrite()

    def of(self, run: str) -> dict[str, Memo]:
        """Return the memos of a run's workers."""
        return self.memos.get(run, {})

    def put(self, memos: Iterable[Memo]) -> None:
        """Remember workers as they are now."""
        changed = []
        for memo in memos:
            known = self.memos.setdefault(memo.run, {})
            if known.get(memo.worker) != memo:
                known[memo.worker] = memo
                changed.append(memo)
        self._write(changed)

    def forget(self, run: str) -> None:
        """Forget a run that is over and whose objects are gone."""
        if self.memos.pop(run, None):
            self._write([[run]])

    def close(self) -> None:
        self.journal.close()

    def _take(self, said: Sequence[Any]) -> None:
        if len(said) == 1:
            self.memos.pop(said[0], None)
        else:
            memo = Memo(*said)
            self.memos.setdefault(memo.run, {})[memo.worker] = memo

    def _write(self, said: Sequence[Sequence[Any]]) -> None:
        self.journal.append(said)
        if said and self.journal.lines > WORN_LINES + 4 * sum(map(len, self.memos.values())):
            self._rewrite()

    def _rewrite(self) -> None:
        self.journal.rewrite(memo for run in self.memos.values() for memo in run.values())
