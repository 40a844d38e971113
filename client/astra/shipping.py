"""Ships the lines of a log to a run's measurement, in windows, until they have arrived."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

from astra.api import Api, ApiError
from astra.following import File, Lines, Pipe, Place, stamped

WINDOW_BYTES = 1024 * 1024
WINDOW_LINES = 20_000
WINDOW_SECONDS = 2.0
SEEN_SECONDS = 30.0


@dataclass
class Shipment:
    """What is shipped where. `seen`: whether the process that writes the log can be seen now."""

    api: Api
    run: str
    attempt: int
    worker: str
    profile: str
    state: Path | None
    stamp: bool
    seen: Callable[[], bool]
    read: int = 0
    again: int = 0

    def ship(self, source: File | Pipe) -> bool:
        """Ship until the source ends; return False when the run was over before. Raises ApiError."""
        batch, since, told = Lines(0, [], True), time.monotonic(), time.monotonic()
        for came in source:
            place = replace(source.place) if isinstance(source, File) else None
            stamps = self.stamp and came.live
            lines = came._replace(lines=[stamped(line) for line in came.lines]) if stamps else came
            if lines.lines and batch.lines and batch.first + len(batch.lines) == lines.first:
                batch.lines.extend(lines.lines)
            elif lines.lines:
                if batch.lines and not self.send(batch, source, None):
                    return False
                batch, since = lines, time.monotonic()
            full = len(batch.lines) >= WINDOW_LINES or sum(map(len, batch.lines)) >= WINDOW_BYTES
            if batch.lines and (full or time.monotonic() - since >= WINDOW_SECONDS):
                if not self.send(batch, source, place):
                    return False
                batch, told = Lines(0, [], True), time.monotonic()
            elif not lines.lines and time.monotonic() - told >= SEEN_SECONDS:
                told = time.monotonic()
                if self.seen() and not self.send(lines._replace(lines=[]), source, None):
                    return False
        place = source.place if isinstance(source, File) else None
        return self.send(batch, source, place) if batch.lines else True

    def send(self, batch: Lines, source: File | Pipe, place: Place | None) -> bool:
        """Deliver lines, and keep how far the log was shipped; False when the run was over before."""
        dropped = source.lost() if isinstance(source, Pipe) else 0
        if not self.post(batch, numbered=isinstance(source, File), dropped=dropped):
            return False
        if place is not None and self.state is not None:
            place.save(self.state)
        return True

    def post(self, batch: Lines, *, numbered: bool, dropped: int = 0) -> bool:
        """Deliver lines, with their numbers where who reads them counts them; False when the run was over before."""
        for begin, part in parts(batch):
            first, lines = begin, part
            while True:
                body: dict[str, Any] = {"lines": lines, "attempt": self.attempt, "dropped": dropped}
                body.update({"first": first} if numbered else {})
                body.update({"worker": self.worker} if self.worker else {})
                body.update({"profile": self.profile} if self.profile else {})
                body.update({"seen_at": now()} if self.seen() else {})
                answer = self.api.send("POST", f"runs/{quote(self.run, safe='')}/logs", body)
                dropped = 0
                if answer["frozen"]:
                    return False
                self.read += answer["read"]
                self.again += answer["again"]
                if not answer["left"]:
                    break
                first, lines = first + len(lines) - answer["left"], lines[len(lines) - answer["left"] :]
        return True


def parts(batch: Lines) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines in parts that fit into a body."""
    begin, size = 0, 0
    texts = [line.decode("utf-8", "replace") for line in batch.lines]
    for at, text in enumerate(texts):
        size += len(text) * 2 + 8
        if size > 3 * WINDOW_BYTES:
            yield batch.first + begin, texts[begin : at + 1]
            begin, size = at + 1, 0
    if begin < len(texts) or not texts:
        yield batch.first + begin, texts[begin:]


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def alive(pid: int) -> bool:
    """Whether a process of that number is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


__all__ = ["Api", "ApiError", "File", "Pipe", "Place", "Shipment", "alive"]
