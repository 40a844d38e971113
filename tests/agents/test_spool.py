"""The spool: whole records in order, through kill −9, damage, a full disk; bounded; one agent a folder."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from astra.collect.batches import LIST, READINGS, STATES, Record
from astra.collect.spool import Dropped, Spool, SpoolBroken, SpoolTaken

AT = datetime(2026, 10, 1, 12, 0, 0, 125_000, UTC)
ALL = (STATES, READINGS, LIST)
WRITER = """
import sys
from pathlib import Path
from tests.agents.test_spool import numbered
from astra.collect.spool import Spool
spool, number = Spool(Path(sys.argv[1])), int(sys.argv[2])
while True:
    spool.append([numbered(number), numbered(number + 1)])
    number += 2
    print(number, flush=True)
"""


def numbered(number: int, kind: str = STATES, size: int = 10) -> Record:
    rng = random.Random(number)
    body = {"workers": [{"worker": f"w{number}"}], "noise": rng.randbytes(size).hex()}
    return Record(kind, AT + timedelta(seconds=number), body, 2 * size + 50)


def numbers(spool: Spool) -> list[int]:
    found = list[int]()
    while told := spool.first(ALL):
        found += [int(record.body["workers"][0]["worker"][1:]) for record in told]
        spool.delete([record.seq for record in told])
    return found


def test_records_come_back_whole_and_in_order(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(k, random.choice(ALL)) for k in range(5)])
    spool.close()
    spool = Spool(tmp_path)
    spool.append([numbered(k) for k in range(5, 9)])
    first = spool.first(ALL)[0]
    assert (first.at, first.body) == (AT, numbered(0).body)
    assert (spool.held().records, spool.held().oldest) == (9, AT)
    assert numbers(spool) == list(range(9))
    assert spool.held() == (0, 0, None)


def test_only_the_kinds_that_are_asked_for_and_no_more_than_fits(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(0, READINGS), numbered(1), numbered(2, LIST), numbered(3)])
    assert [record.kind for record in spool.first((STATES, LIST))] == [STATES, LIST, STATES]
    assert len(spool.first(ALL, size=1)) == 1
    assert len(spool.first(ALL, count=2)) == 2
    assert len(spool.first(ALL, size=140)) == 2


def test_parts_stand_in_the_place_of_their_whole(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(k) for k in (0, 10, 20)])
    for _ in range(3):  # of the first of the parts again
        target = next(r for r in spool.first(ALL) if r.body["workers"][0]["worker"] == "w10")
        spool.replace(target.seq, [numbered(10), numbered(11), numbered(12)])
    assert numbers(spool) == [0, 10, 11, 12, 11, 12, 11, 12, 20]
    assert spool.size == 0


def test_whatever_byte_it_was_killed_at_all_that_was_written_is_there(tmp_path: Path) -> None:
    """What was said to be written is there, in order, without a gap; what was not said may be there whole."""
    begun = 0
    for kill in range(8):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path, str(begun)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        said = 0
        for _ in range(random.Random(kill).randrange(1, 40)):
            said = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        said = max([said, *map(int, child.stdout.read().splitlines(keepends=False)[-1:])])
        child.wait()
        child.stdout.close()
        spool = Spool(tmp_path)
        found = numbers(spool)
        spool.close()
        assert found == list(range(begun, begun + len(found)))
        assert begun + len(found) >= said
        assert len(found) % 2 == 0  # both of a step or none
        begun += len(found)


def test_a_torn_tail_is_dropped(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a")
    for number in range(20):
        spool.append([numbered(number, size=500)])
    wal = (tmp_path / "a" / "spool.sqlite-wal").read_bytes()
    for cut in random.Random(7).sample(range(len(wal)), 25):
        copy = tmp_path / f"cut-{cut}"
        copy.mkdir()
        (copy / "spool.sqlite").write_bytes((tmp_path / "a" / "spool.sqlite").read_bytes())
        (copy / "spool.sqlite-wal").write_bytes(wal[:cut])
        torn = Spool(copy)
        found = numbers(torn)
        assert found == list(range(len(found)))
        torn.close()
    spool.close()


def test_a_damaged_file_is_put_aside_and_said_to_be(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(k, size=3000) for k in range(20)])
    spool.close()
    file = tmp_path / "spool.sqlite"
    body = bytearray(file.read_bytes())
    body[: 2 * 4096] = b"x" * 2 * 4096
    file.write_bytes(body)
    spool = Spool(tmp_path)
    assert spool.damaged
    assert numbers(spool) == []
    spool.append([numbered(1)])
    assert numbers(spool) == [1]
    assert len(list(tmp_path.glob("spool.damaged-*"))) == 1


def test_a_record_that_changed_on_the_disk_is_dropped_alone(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(k) for k in range(3)])
    (second,) = [record.seq for record in spool.first(ALL) if record.body == numbered(1).body]
    spool.database.execute("UPDATE record SET body = ? WHERE seq = ?", (b"\0" * 40, second))
    assert numbers(spool) == [0, 2]
    assert "checksum" in spool.damaged


def test_when_it_is_full_the_oldest_readings_go_first_and_states_last(tmp_path: Path) -> None:
    spool = Spool(tmp_path, bound=40_000)
    dropped = [spool.append([numbered(k, READINGS if k % 2 else STATES, size=1000)]) for k in range(60)]
    assert spool.held().size <= 40_000
    kinds = [record.kind for record in spool.first(ALL)]
    told = sum(one.readings for one in dropped), sum(one.states for one in dropped)
    assert told == (30 - kinds.count(READINGS), 30 - kinds.count(STATES))
    assert told[0] > 25
    left = numbers(spool)
    assert left == sorted(left)
    assert left[-2:] == [58, 59]


def test_a_disk_that_takes_nothing_is_said_and_nothing_half_is_written(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(0)])
    pages = spool.database.execute("PRAGMA page_count").fetchone()[0]
    spool.database.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(SpoolBroken, match="full"):
        spool.append([numbered(k, size=1000) for k in range(1, 50)])
    assert spool.append([numbered(1)]) == Dropped()
    assert numbers(spool) == [0, 1]


def test_its_file_becomes_small_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([numbered(k, size=5000) for k in range(200)])
    numbers(spool)
    spool.close()
    assert (tmp_path / "spool.sqlite").stat().st_size < 100_000


def test_one_agent_a_folder(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a")
    with pytest.raises(SpoolTaken, match=rf"\(process {os.getpid()}\) uses the spool .*--spool"):
        Spool(tmp_path / "a")
    spool.close()
    Spool(tmp_path / "a").close()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolBroken, match="cannot be used"):
        Spool(tmp_path / "file" / "spool")
