"""What is not delivered yet, on disk: whole records in their order, bounded, safe from kill −9 at any byte."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

from astra.collect.batches import READINGS, Record, dumped

BOUND_BYTES = 1024 * 1024 * 1024
BUSY_MS = 5_000
GAP = 1 << 20  # between the numbers of records, so that parts find room in the place of a whole
_INSERT = "INSERT INTO record (seq, kind, at_ms, items, size, crc, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS record (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, at_ms INTEGER NOT NULL, items INTEGER NOT NULL,
    size INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS record_kind ON record (kind, seq);
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class SpoolTaken(Exception):
    """Another agent uses the folder; the text is one clear sentence."""


class SpoolBroken(Exception):
    """The disk did not take a record, or a record cannot be read; the text says why."""


class Held(NamedTuple):
    """What a spool holds: its records, their bytes, and the instant of the oldest."""

    records: int
    size: int
    oldest: datetime | None


class Dropped(NamedTuple):
    """What had to go so that the rest fits: items of readings and of states."""

    readings: int = 0
    states: int = 0


class Spool:
    """A folder with one SQLite file, for one agent alone. Raises SpoolTaken, SpoolBroken."""

    def __init__(self, folder: Path, bound: int = BOUND_BYTES) -> None:
        self.folder, self.bound = folder, bound
        self.lock = threading.RLock()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.guard = _guarded(folder)
        except OSError as error:
            raise SpoolBroken(f"The spool {folder} cannot be used: {error.strerror}.") from None
        self.file, self.damaged = folder / "spool.sqlite", ""
        self.database = self._opened()
        self.size = self._number("SELECT coalesce(sum(length(body)), 0) FROM record")

    def close(self) -> None:
        with self.lock:
            self.database.close()
            os.close(self.guard)

    def _opened(self) -> sqlite3.Connection:
        """Open the file; one that is damaged is put aside, and said to be."""
        try:
            return _connected(self.file)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise SpoolBroken(f"The spool {self.file} cannot be opened: {error}.") from None
            self.damaged = str(error)
        aside = self.file.with_suffix(f".damaged-{datetime.now(timezone.utc):%Y%m%dT%H%M%S%f}")
        for suffix in ("", "-wal", "-shm"):
            part = Path(f"{self.file}{suffix}")
            if part.exists():
                part.replace(f"{aside}{suffix}")
        return _connected(self.file)

    def append(self, told: Sequence[Record]) -> Dropped:
        """Write records, all or none, and make room when they do not fit. Raises SpoolBroken."""
        rows = [_row(record) for record in told]
        with self.lock:
            last = self._number("SELECT coalesce(max(seq), 0) FROM record")
            self._write([(_INSERT, (last + place * GAP, *row)) for place, row in enumerate(rows, 1)])
            self.size += sum(len(row[-1]) for row in rows)
            return self._make_room()

    def first(self, kinds: Sequence[str], count: int = 256, size: int = 8 << 20) -> list[Record]:
        """Return the oldest records of these kinds, in order, at least one, while their bodies fit `size` bytes."""
        marks = ",".join("?" * len(kinds))
        wanted = f"SELECT seq, size FROM record WHERE kind IN ({marks}) ORDER BY seq LIMIT ?"  # noqa: S608
        with self.lock:
            seqs: list[int] = []
            for seq, bytes_of in self._rows(wanted, (*kinds, count)):
                size -= bytes_of
                if seqs and size < 0:
                    break
                seqs.append(seq)
            marks = ",".join("?" * len(seqs))
            rows = self._rows(
                f"SELECT seq, kind, at_ms, size, crc, body FROM record WHERE seq IN ({marks}) ORDER BY seq",  # noqa: S608
                seqs,
            )
        return [found for row in rows if (found := self._record(row))]

    def _record(self, row: tuple[Any, ...]) -> Record | None:
        """Return a record; one whose bytes changed on the disk is dropped, and said to be."""
        seq, kind, at, size, crc, body = row
        if zlib.crc32(body) != crc:
            self.damaged = f"record {seq} does not match its checksum"
            self.delete([seq])
            return None
        told = json.loads(zlib.decompress(body))
        return Record(kind, _EPOCH + timedelta(milliseconds=at), told, size, seq)

    def delete(self, seqs: Sequence[int]) -> None:
        """Forget records that were delivered. Raises SpoolBroken."""
        with self.lock:
            size = sum(self._length(seq) for seq in seqs)
            self._write([("DELETE FROM record WHERE seq = ?", (seq,)) for seq in seqs])
            self.size -= size

    def replace(self, seq: int, parts: Sequence[Record]) -> None:
        """Put parts in the place of a record: they go out before what came after it. Raises SpoolBroken."""
        rows = [_row(part) for part in parts]
        with self.lock:
            size = self._length(seq)
            following = self._rows("SELECT min(seq) FROM record WHERE seq > ?", (seq,))[0][0]
            step = ((following or seq + GAP) - seq) // len(rows)
            if not step:
                raise SpoolBroken(f"The spool {self.folder} has no room to split a record again.")
            steps: list[tuple[str, tuple[Any, ...]]] = [("DELETE FROM record WHERE seq = ?", (seq,))]
            steps += [(_INSERT, (seq + place * step, *row)) for place, row in enumerate(rows)]
            self._write(steps)
            self.size += sum(len(row[-1]) for row in rows) - size

    def _length(self, seq: int) -> int:
        rows = self._rows("SELECT length(body) FROM record WHERE seq = ?", (seq,))
        return int(rows[0][0]) if rows else 0

    def held(self) -> Held:
        """Return what is there."""
        with self.lock:
            rows = self._rows("SELECT count(*), min(at_ms) FROM record", ())
        count, oldest = rows[0]
        return Held(count, self.size, None if oldest is None else _EPOCH + timedelta(milliseconds=oldest))

    def _make_room(self) -> Dropped:
        """Drop the oldest readings, then the oldest states, until a tenth below the bound."""
        dropped = [0, 0]
        if self.size <= self.bound:
            return Dropped()
        for place, where in enumerate((f"kind = '{READINGS}'", "true")):
            wanted = f"SELECT seq, items, length(body) FROM record WHERE {where} ORDER BY seq"  # noqa: S608
            seqs: list[tuple[int]] = []
            for seq, items, size in self._rows(wanted, ()):
                if self.size <= self.bound * 9 // 10:
                    break
                seqs.append((seq,))
                dropped[place] += items
                self.size -= size
            self._write([("DELETE FROM record WHERE seq = ?", row) for row in seqs])
        return Dropped(*dropped)

    def _write(self, steps: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        try:
            with self.database:
                self.database.execute("BEGIN IMMEDIATE")
                for statement, values in steps:
                    self.database.execute(statement, values)
        except sqlite3.Error as error:
            raise SpoolBroken(f"The spool {self.folder} was not written: {error}.") from None

    def _rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            return self.database.execute(statement, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise SpoolBroken(f"The spool {self.folder} cannot be read: {error}.") from None

    def _number(self, statement: str) -> int:
        return int(self._rows(statement, ())[0][0])


def _row(record: Record) -> tuple[Any, ...]:
    """Return the columns of a record but its number."""
    body = zlib.compress(dumped(record.body).encode(), 1)
    return (record.kind, _ms(record.at), record.count, record.size, zlib.crc32(body), body)


def _ms(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)


def _guarded(folder: Path) -> int:
    """Return the open lock of the folder. Raises SpoolTaken with the process that holds it."""
    guard = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(guard, 32).decode(errors="replace").strip() or "?"
        os.close(guard)
        raise SpoolTaken(
            f"Another agent (process {holder}) uses the spool {folder}: stop it, or give this one a folder of its own "
            "with --spool or ASTRALYX_SPOOL."
        ) from None
    os.ftruncate(guard, 0)
    os.write(guard, str(os.getpid()).encode())
    return guard


def _connected(file: Path) -> sqlite3.Connection:
    """Open the file so that what is committed is on the disk."""
    database = sqlite3.connect(file, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA auto_vacuum = FULL")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("its pages are damaged")
        database.executescript(_SCHEMA)
    except sqlite3.Error:
        database.close()
        raise
    return database
