"""What is still to be delivered, in order: a bounded number of lines in memory, a bounded file on disk."""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from pathlib import Path
from typing import IO, Any

KEPT_LINES = 512
FILE_BYTES_MAX = 4 * 1024 * 1024
SUFFIX = ".ndjson"


class Backlog:
    """Lines in the order in which they were added, those on disk first. The oldest go when there is no more room.

    A file belongs to the process that holds its lock; what a process left that is gone is adopted by the next one of
    the same run and worker. One thread uses a backlog. Without a folder, or when the disk is full, memory is all.
    """

    def __init__(self, folder: Path | None, run: str, worker: str, bytes_max: int = FILE_BYTES_MAX) -> None:
        self.lost = 0
        self._memory: deque[bytes] = deque()
        self._disk: deque[int] = deque()  # the lengths of the lines on disk, from `_from` on
        self._from = 0
        self._bytes_max = bytes_max
        self._folder = None if folder is None else folder / _name(run, worker)
        self._file: IO[bytes] | None = None
        self._path = Path()

    def __len__(self) -> int:
        return len(self._disk) + len(self._memory)

    def add(self, line: bytes) -> None:
        """Add a line, which has no line feed in it."""
        self._memory.append(line)
        if len(self._memory) > KEPT_LINES:
            self._memory.popleft()
            self.lost += 1

    def first(self, most: int) -> list[bytes]:
        """Return the oldest lines. Raises OSError when the disk cannot be read."""
        count = min(most, len(self._disk))
        try:
            lines = self._read(sum(self._disk[place] for place in range(count))) if count else []
        except OSError:
            self._give_up_disk()
            raise
        return lines + [self._memory[place] for place in range(min(most - count, len(self._memory)))]

    def drop(self, count: int) -> None:
        """Forget the oldest lines: they have arrived, or never will."""
        for _ in range(count):
            if self._disk:
                self._from += self._disk.popleft()
            elif self._memory:
                self._memory.popleft()
        if not self._disk and self._from:
            self._empty()

    def keep(self) -> None:
        """Move what is in memory to disk. Raises OSError when there is no room, and then it stays in memory."""
        if self._folder is None or not self._memory:
            return
        file = self._open()
        self._make_room(sum(map(len, self._memory)) + len(self._memory))
        end = file.seek(0, os.SEEK_END)
        try:
            file.write(b"".join(line + b"\n" for line in self._memory))
            file.flush()
        except OSError:
            _truncate(file, end)
            raise
        self._disk.extend(len(line) + 1 for line in self._memory)
        self._memory.clear()

    def adopt(self) -> None:
        """Take over what processes left that are gone. Raises OSError when the disk cannot be used."""
        if self._folder is None or not self._folder.is_dir():
            return
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if path != self._path:
                self._take(path)

    def _take(self, path: Path) -> None:
        """A file is removed when its lines are in ours, so that nothing is lost however this process ends."""
        try:
            with open(path, "r+b", buffering=0) as file:
                if _lock(file):
                    self._memory.extend(file.read(self._bytes_max).split(b"\n")[:-1])  # the last is empty, or torn
                    self.keep()
                    path.unlink()
        except FileNotFoundError:
            return

    def close(self) -> None:
        """Leave the file to whoever comes next; an empty one is removed."""
        if self._file is not None:
            if not self._disk:
                self._path.unlink()
            self._file.close()
            self._file = None

    def _open(self) -> IO[bytes]:
        if self._file is None:
            assert self._folder is not None, "asked for with a folder only"
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path = self._folder / f"{time.time_ns():020d}-{os.getpid()}{SUFFIX}"
            self._file = open(self._path, "w+b", buffering=0)  # noqa: SIM115  # closed by close()
            _lock(self._file)
        return self._file

    def _read(self, size: int) -> list[bytes]:
        file = self._open()
        file.seek(self._from)
        return file.read(size).splitlines()

    def _make_room(self, size: int) -> None:
        while self._disk and sum(self._disk) + size > self._bytes_max:
            self._from += self._disk.popleft()
            self.lost += 1
        if self._from > self._bytes_max:
            self._move_down()

    def _move_down(self) -> None:
        """Write the file anew without what was delivered."""
        rest = self._read(sum(self._disk))
        self._empty()
        try:
            self._open().write(b"".join(line + b"\n" for line in rest))
        except OSError:
            self._give_up_disk()
            raise

    def _give_up_disk(self) -> None:
        self.lost += len(self._disk)
        self._disk.clear()
        self._from = 0

    def _empty(self) -> None:
        self._from = 0
        if self._file is not None:
            _truncate(self._file, 0)


def _name(run: str, worker: str) -> str:
    """Names of runs and workers may be long and hold anything; a folder's name may not."""
    return hashlib.sha256(f"{run}\0{worker}".encode()).hexdigest()[:32]


def _truncate(file: IO[bytes], size: int) -> None:
    file.truncate(size)
    file.seek(size)


def _lock(file: IO[Any]) -> bool:
    """Lock a file for as long as it is open; False when another process has it, or the system knows no such locks."""
    try:
        import fcntl  # there is none on Windows
    except ImportError:
        return False
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
