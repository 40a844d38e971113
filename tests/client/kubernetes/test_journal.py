"""The file of what an agent remembers: whatever is in it, and whatever the disk does."""

from pathlib import Path

import pytest

from astra.collect.kubernetes.journal import Journal
from astra.collect.kubernetes.memory import Memory
from astra.collect.kubernetes.places import Places


def test_lines_that_say_nothing_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'["a", 1]\n\n{"a": 1}\n7\n\xff\xfe\n["b"]\n["c", 2, ')
    assert list(Journal(path, "What is known").read()) == [["a", 1], ["b"]]


def test_it_is_added_to_once_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal.jsonl"
    journal = Journal(path, "What is known")
    assert list(journal.read()) == []
    journal.append([["lost"]])
    journal.rewrite([["a", 1]])
    journal.append([["b", 2], ["c", 3]])
    journal.close()
    assert (journal.lines, path.read_text()) == (3, '["a", 1]\n["b", 2]\n["c", 3]\n')


def test_without_a_path_nothing_is_kept() -> None:
    journal = Journal(None, "What is known")
    journal.rewrite([["a"]])
    journal.append([["b"]])
    assert (list(journal.read()), journal.lines) == ([], 0)


def test_a_disk_that_refuses_is_said_in_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal(tmp_path, "What is known")
    assert list(journal.read()) == []
    journal.rewrite([["a"]])
    assert [record.message for record in caplog.records] == [
        f"What is known cannot be read from {tmp_path}: Is a directory.",
        f"What is known cannot be kept in {tmp_path}: Is a directory.",
    ]


@pytest.mark.parametrize("line", ["[]", '[["a"]]', '["a", 1]', '["a", 1, 2, 3]', "[" + "1, " * 20 + "1]"])
def test_a_line_of_another_kind_is_not_remembered(line: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(f"{line}\n")
    places, memory = Places(path), Memory(tmp_path / "none.jsonl")
    assert (places.of, memory.memos) == ({}, {})
    places.close()
    memory.close()
