"""How far each container's log was delivered: a line a change, the last one counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from astra.collect.kubernetes.journal import Journal
from astra.collect.kubernetes.loglines import Place

WORN_LINES = 1_000


class Places:
    """The places by the logs' keys; `path` None: nothing outlives the process."""

    def __init__(self, path: Path | None = None) -> None:
        self.of: dict[str, Place] = {}
        self.journal = Journal(path, "How far logs were read")
        self.journal.recall(self._take)
        self._rewrite()

    def put(self, key: str, place: Place) -> None:
        if self.of.get(key) != place:
            self.of[key] = place
            self._write(line(key, place))

    def forget(self, key: str) -> None:
        if self.of.pop(key, None) is not None:
            self._write([key])

    def close(self) -> None:
        self.journal.close()

    def _take(self, said: Sequence[Any]) -> None:
        """A line that is lost loses nothing: what is after the place before it is read again."""
        key, *rest = said
        if rest:
            last, marks, done = rest
            self.of[str(key)] = Place(int(last), tuple((int(ns), str(mark)) for ns, mark in marks), bool(done))
        else:
            self.of.pop(key, None)

    def _write(self, said: Sequence[Any]) -> None:
        self.journal.append([said])
        if self.journal.lines > WORN_LINES + 4 * len(self.of):
            self._rewrite()

    def _rewrite(self) -> None:
        self.journal.rewrite(line(key, place) for key, place in self.of.items())


def line(key: str, place: Place) -> list[Any]:
    """Return what the journal says of a log."""
    return [key, place.last, place.marks, place.done]
