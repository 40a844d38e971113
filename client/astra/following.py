"""Follows a log as it grows: whole lines with their numbers, through truncation, rotation and restarts. Bounded."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

PIECE_BYTES = 256 * 1024
LINE_BYTES_MAX = 64 * 1024
HEAD_BYTES = 256
POLL_SECONDS = 0.5


@dataclass
class Place:
    """How far a log was read: `offset` in the file that `inode` and the hash of its first bytes tell, line `number`."""

    inode: int = 0
    head: str = ""
    head_bytes: int = 0
    offset: int = 0
    number: int = 0

    @classmethod
    def load(cls, path: Path) -> Place:
        """Return what was kept; a new place when nothing was, or nothing that can be read."""
        try:
            return cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(self)))
        os.replace(new, path)


class Lines(NamedTuple):
    """Lines that follow each other; the first is number `first`. `live`: they were read as they were written."""

    first: int
    lines: list[bytes]
    live: bool


class File:
    """A file that grows, is truncated, is rotated away. Iterating ends when `stop` is set, or with the file."""

    def __init__(
        self, path: Path, place: Place, follow: bool, stop: threading.Event, poll: float = POLL_SECONDS
    ) -> None:
        self.path, self.place, self.follow, self.stop, self.poll = path, place, follow, stop, poll
        self.rest = b""
        self.skipping = False
        self.live = False

    def __iter__(self) -> Iterator[Lines]:
        """Yield lines; after each yield `place` is behind them. An empty batch says that nothing new has come."""
        while not self.stop.is_set():
            handle = self.opened()
            if handle is None:
                if not self.follow:
                    return
                self.live = True
                yield Lines(self.place.number, [], True)
                self.stop.wait(self.poll)
                continue
            with handle:
                yield from self.of(handle)
            if not self.follow:
                return

    def opened(self) -> BinaryIO | None:
        """Open where it was left; what was rotated away while nobody looked is read to its end first."""
        for path in (str(self.path), *sorted(glob.glob(glob.escape(str(self.path)) + "*"))):
            handle = readable(path)
            if handle is None:
                continue
            if self.place.inode and self.is_same(handle):
                handle.seek(self.place.offset)
                return handle
            handle.close()
        handle = readable(str(self.path))
        if handle is None:
            return None
        self.place.inode, self.place.offset = os.fstat(handle.fileno()).st_ino, 0
        self.place.head, self.place.head_bytes = "", 0
        return handle

    def is_same(self, handle: BinaryIO) -> bool:
        about = os.fstat(handle.fileno())
        if about.st_ino != self.place.inode or about.st_size < self.place.offset:
            return False
        return hashed(handle.read(self.place.head_bytes)) == self.place.head if self.place.head else True

    def of(self, handle: BinaryIO) -> Iterator[Lines]:
        """Read a file until it is gone, shorter than it was, or over."""
        while not self.stop.is_set():
            piece = handle.read(PIECE_BYTES)
            if piece:
                self.remember_head(handle)
                yield from self.taken(piece)
                continue
            gone = self.gone(handle)
            if gone or not self.follow:
                yield from self.left()
                if gone:
                    self.place.inode = self.place.offset = 0
                return
            self.live = True
            yield Lines(self.place.number, [], True)
            self.stop.wait(self.poll)
            if self.rewritten(handle):
                yield from self.left()
                self.place.inode = self.place.offset = 0
                return

    def rewritten(self, handle: BinaryIO) -> bool:
        """Whether the file begins otherwise than before: it was cut, and has grown beyond where it was read to."""
        at = handle.tell()
        handle.seek(0)
        head = handle.read(self.place.head_bytes)
        handle.seek(at)
        return bool(self.place.head) and hashed(head) != self.place.head

    def remember_head(self, handle: BinaryIO) -> None:
        if self.place.head_bytes < HEAD_BYTES:
            at = handle.tell()
            handle.seek(0)
            head = handle.read(min(HEAD_BYTES, at))
            handle.seek(at)
            self.place.head, self.place.head_bytes = hashed(head), len(head)

    def gone(self, handle: BinaryIO) -> bool:
        """Whether the path is another file by now, or this one was cut."""
        try:
            there = os.stat(self.path)
        except OSError:
            return self.follow and os.fstat(handle.fileno()).st_nlink == 0
        return there.st_ino != self.place.inode or there.st_size < handle.tell()

    def taken(self, piece: bytes) -> Iterator[Lines]:
        found = (self.rest + piece).split(b"\n")
        self.rest = found.pop()
        size = sum(map(len, found)) + len(found)
        if self.skipping and found:
            found[0], self.skipping = found[0][:0], False
        if len(self.rest) > LINE_BYTES_MAX:
            size += len(self.rest)
            if not self.skipping:
                found.append(self.rest[:LINE_BYTES_MAX])
            self.rest, self.skipping = b"", True
        first, self.place.number = self.place.number, self.place.number + len(found)
        self.place.offset += size
        if found:
            yield Lines(first, found, self.live)

    def left(self) -> Iterator[Lines]:
        """Yield the last line, which has no end."""
        if self.rest and not self.skipping:
            rest, self.rest = self.rest, b""
            self.place.offset += len(rest)
            self.place.number += 1
            yield Lines(self.place.number - 1, [rest], self.live)
        self.rest, self.skipping = b"", False


class Pipe:
    """Standard input. Read whether the server answers or not; what does not fit in memory is dropped and counted."""

    def __init__(self, source: BinaryIO, stop: threading.Event, room: int = 8 * 1024 * 1024) -> None:
        self.source, self.stop, self.room = source, stop, room
        self.lock = threading.Condition()
        self.waiting: list[tuple[int, bytes]] = []
        self.size = self.number = self.dropped = 0
        self.over = False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self) -> None:
        while line := self.source.readline(LINE_BYTES_MAX):
            with self.lock:
                self.waiting.append((self.number, line.rstrip(b"\n")))
                self.number += 1
                self.size += len(line)
                while self.size > self.room and len(self.waiting) > 1:
                    self.size -= len(self.waiting.pop(0)[1]) + 1
                    self.dropped += 1
                self.lock.notify()
        with self.lock:
            self.over = True
            self.lock.notify()

    def __iter__(self) -> Iterator[Lines]:
        while not self.stop.is_set():
            with self.lock:
                if not self.waiting and not self.over:
                    self.lock.wait(POLL_SECONDS)
                found, self.waiting, self.size, over = self.waiting, [], 0, self.over
            yield from runs(found)
            if not found:
                if over:
                    return
                yield Lines(self.number, [], True)

    def lost(self) -> int:
        """Return how many lines were dropped since this was asked."""
        with self.lock:
            found, self.dropped = self.dropped, 0
        return found


def runs(numbered: list[tuple[int, bytes]]) -> Iterator[Lines]:
    """Yield lines by stretches without a gap."""
    begin = 0
    for at in range(1, len(numbered) + 1):
        if at == len(numbered) or numbered[at][0] != numbered[at - 1][0] + 1:
            yield Lines(numbered[begin][0], [line for _, line in numbered[begin:at]], True)
            begin = at


def readable(path: str) -> BinaryIO | None:
    try:
        return Path(path).open("rb")
    except OSError:
        return None


def hashed(head: bytes) -> str:
    return hashlib.sha256(head).hexdigest()[:32]


def stamped(line: bytes) -> bytes:
    """Return a line with the instant at which it was read before it, unless it has one."""
    if line[4:5] == b"-" and line[10:11] == b"T" and line[:4].isdigit():
        return line
    ns = time.time_ns()
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 1_000_000_000))
    return f"{moment}.{ns % 1_000_000_000:09d}Z ".encode() + line
