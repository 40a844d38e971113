"""What is kept until it arrives: in order, bounded, and over the end of a process."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from astra import backlog
from astra.backlog import KEPT_LINES, Backlog


@pytest.fixture(autouse=True)
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what the tests open, as the end of a process would."""
    opened: list[IO[bytes]] = []
    really = backlog._lock

    def lock(file: IO[bytes]) -> bool:
        opened.append(file)
        return really(file)

    monkeypatch.setattr(backlog, "_lock", lock)
    yield
    for file in opened:
        file.close()


def lines(*numbers: int) -> list[bytes]:
    return [b'{"n": %d}' % number for number in numbers]


def filled(folder: Path | None, count: int, bytes_max: int = 4096) -> Backlog:
    kept = Backlog(folder, "r", "w", bytes_max)
    for line in lines(*range(count)):
        kept.add(line)
    return kept


def all_of(kept: Backlog) -> list[bytes]:
    return kept.first(len(kept))


def test_disk_comes_first_then_memory(tmp_path: Path) -> None:
    kept = filled(tmp_path, 3)
    kept.keep()
    kept.add(b"{}")
    assert kept.first(2) == lines(0, 1)
    assert all_of(kept) == [*lines(0, 1, 2), b"{}"]
    kept.drop(2)
    assert all_of(kept) == [*lines(2), b"{}"]
    kept.drop(2)
    assert (len(kept), all_of(kept), kept.lost) == (0, [], 0)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.ndjson")) == 0
    kept.close()
    assert list(tmp_path.rglob("*.ndjson")) == []


def test_memory_is_bounded_and_the_oldest_go() -> None:
    kept = filled(None, KEPT_LINES + 5)
    kept.keep()
    assert (len(kept), kept.lost, kept.first(1)) == (KEPT_LINES, 5, lines(5))


def test_the_file_is_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    kept = Backlog(tmp_path, "r", "w", bytes_max=1_000)
    for number in range(1_000):
        kept.add(b'{"n": %04d}' % number)
        kept.keep()
        assert sum(path.stat().st_size for path in tmp_path.rglob("*.ndjson")) <= 2_100
    assert len(kept) == 1_000 // 12
    assert all_of(kept)[-1] == b'{"n": 0999}'
    assert all_of(kept)[0] == b'{"n": %04d}' % (1_000 - len(kept))
    assert kept.lost == 1_000 - len(kept)


def test_the_next_process_takes_over_what_is_left(tmp_path: Path) -> None:
    gone = filled(tmp_path, 3)
    gone.keep()
    assert gone._file is not None
    gone._file.write(b'{"torn')  # it was killed as it wrote
    gone._file.close()
    kept = Backlog(tmp_path, "r", "w")
    kept.adopt()
    kept.add(b"{}")
    assert all_of(kept) == [*lines(0, 1, 2), b"{}"]
    assert len(list(tmp_path.rglob("*.ndjson"))) == 1


def test_what_a_living_process_keeps_is_left_alone(tmp_path: Path) -> None:
    living = filled(tmp_path, 3)
    living.keep()
    kept = Backlog(tmp_path, "r", "w")
    kept.adopt()
    assert len(kept) == 0
    assert all_of(living) == lines(0, 1, 2)


def test_another_worker_is_another_backlog(tmp_path: Path) -> None:
    gone = filled(tmp_path, 3)
    gone.keep()
    gone.close()
    for run, worker in (("r", "w2"), ("r2", "w"), ("rw", "")):
        other = Backlog(tmp_path, run, worker)
        other.adopt()
        assert len(other) == 0


class Full:
    """A file on a disk that has no room left."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, said: bytes) -> int:
        self.file.write(said[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_full_disk_leaves_it_in_memory(tmp_path: Path) -> None:
    kept = filled(tmp_path, 2)
    kept.keep()
    file, kept._file = kept._file, Full(kept._file)  # type: ignore[assignment]
    kept.add(b"{}")
    with pytest.raises(OSError, match="No space"):
        kept.keep()
    assert all_of(kept) == [*lines(0, 1), b"{}"]
    kept._file = file
    kept.keep()
    assert all_of(kept) == [*lines(0, 1), b"{}"]


def test_a_disk_that_cannot_be_read_any_more_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = filled(tmp_path, 2)
    kept.keep()
    kept.add(b"{}")

    def broken(*_: Any) -> list[bytes]:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(kept, "_read", broken)
    with pytest.raises(OSError, match="Input"):
        kept.first(10)
    assert (kept.first(10), kept.lost) == ([b"{}"], 2)


def test_without_locks_nothing_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = filled(tmp_path, 3)
    gone.keep()
    gone.close()
    monkeypatch.setattr(backlog, "_lock", lambda _: False)
    kept = Backlog(tmp_path, "r", "w")
    kept.adopt()
    assert len(kept) == 0
