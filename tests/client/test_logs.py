"""Logs are followed through whatever happens to files, and shipped by real processes to a real server."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.following import LINE_BYTES_MAX, File, Lines, Pipe, Place, stamped
from tests.client.conftest import Astra
from tests.client.scripted import Scripted, document
from tests.client.test_live import Acme, acme, here, process

__all__ = ["acme", "here"]
STEP = "2026-10-01T12:{:02d}:{:02d}Z completed step: {}, seconds: 1.0, TFLOP/s/device: 100.0\n"


class Read:
    """A follower that is stepped by hand: `more` are the lines that are new."""

    def __init__(self, path: Path, place: Place | None = None) -> None:
        self.file = File(path, place or Place(), follow=True, stop=threading.Event(), poll=0)
        self.steps: Iterator[Lines] = iter(self.file)
        self.numbers: list[int] = []

    def more(self) -> list[str]:
        found: list[str] = []
        idle = 0
        while idle < 3:
            lines = next(self.steps)
            idle = 0 if lines.lines else idle + 1
            self.numbers += range(lines.first, lines.first + len(lines.lines))
            found += [line.decode() for line in lines.lines]
        return found


def test_a_file_is_followed_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    read = Read(path)
    assert read.more() == []
    with path.open("a") as log:
        log.write("one\ntwo\nthr")
        log.flush()
        assert read.more() == ["one", "two"]
        log.write("ee\n")
    assert read.more() == ["three"]
    assert read.numbers == [0, 1, 2]


def test_rotation_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("one\n")
    read = Read(path)
    assert read.more() == ["one"]
    with path.open("a") as log:
        log.write("two\nlast without an end")
    path.rename(tmp_path / "train.log.1")
    path.write_text("new\n")
    assert read.more() == ["two", "last without an end", "new"]
    assert read.numbers == [0, 1, 2, 3]


@pytest.mark.parametrize("after", ["x\n", "a much longer text than there was before\n"])
def test_truncation_begins_anew(tmp_path: Path, after: str) -> None:
    path = tmp_path / "train.log"
    path.write_text("one\ntwo\n")
    read = Read(path)
    assert read.more() == ["one", "two"]
    path.write_text(after)
    assert read.more() == [after.strip()]
    assert read.numbers == [0, 1, 2]


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    path, kept = tmp_path / "train.log", tmp_path / "state" / "place.json"
    path.write_text("one\ntwo\nth")
    first = Read(path)
    assert first.more() == ["one", "two"]
    first.file.place.save(kept)
    with path.open("a") as log:
        log.write("ree\n")
    path.rename(tmp_path / "train.log.1")
    path.write_text("new\n")
    again = Read(path, Place.load(kept))
    assert again.more() == ["three", "new"]
    assert again.numbers == [2, 3]


def test_another_file_under_the_name_is_new(tmp_path: Path) -> None:
    path, kept = tmp_path / "train.log", tmp_path / "place.json"
    path.write_text("one\ntwo\n")
    first = Read(path)
    first.more()
    first.file.place.save(kept)
    path.unlink()
    path.write_text("other\n")
    again = Read(path, Place.load(kept))
    assert again.more() == ["other"]
    assert again.numbers == [2]
    kept.write_text("{broken")
    assert Place.load(kept) == Place()


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"x" * 5_000_000 + b"\nshort\n")
    read = Read(path)
    found = read.more()
    assert [len(line) for line in found] == [LINE_BYTES_MAX, 0, 5]
    assert len(read.file.rest) == 0


def test_a_pipe_never_holds_its_writer_up() -> None:
    pipe = Pipe(io.BytesIO(b"".join(b"line %06d\n" % n for n in range(10_000))), threading.Event(), room=1_000)
    pipe.thread.join(10)
    assert pipe.over
    found = [line for lines in pipe for line in lines.lines]
    assert found[-1] == b"line 009999"
    assert len(found) + pipe.lost() == 10_000
    assert len(found) < 100


def test_only_lines_without_a_stamp_are_stamped() -> None:
    assert stamped(b"2026-10-01T12:00:00Z step 1") == b"2026-10-01T12:00:00Z step 1"
    assert stamped(b"step 1").endswith(b"Z step 1")


def measurement(here: Acme) -> dict[str, object]:
    import httpx

    address, token = os.environ["ASTRALYX_API"], here.token("read")
    answer = httpx.get(f"{address}/v1/runs/llm/measurement", headers={"Authorization": f"Bearer {token}"})
    found: dict[str, object] = answer.json()
    return found


@pytest.fixture
def shipping(here: Acme, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Acme:
    monkeypatch.setenv("ASTRALYX_TOKEN", here.token("ingest", "read"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return here


SHIP = ("logs", "ship", "--run", "llm", "--profile", "maxtext")


def test_a_file_is_shipped_and_shipped_again(shipping: Acme, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(STEP.format(n // 60, n % 60, n) for n in range(300)))
    done = process(*SHIP, "--no-follow", "--attempt", "1", str(path))
    assert (done.returncode, done.stderr) == (0, "300 lines shipped, 0 were known.\n")
    first = measurement(shipping)
    again = process(*SHIP, "--no-follow", "--attempt", "1", "--state", str(tmp_path / "none"), str(path))
    assert again.stderr == "0 lines shipped, 300 were known.\n"
    nothing = process(*SHIP, "--no-follow", "--attempt", "1", str(path))
    assert nothing.stderr == "0 lines shipped, 0 were known.\n"
    assert measurement(shipping)["read"] == first["read"] == {"lines": 300, "bytes": path.stat().st_size, "dropped": 0}


def test_kill_9_between_windows(shipping: Acme, tmp_path: Path) -> None:
    """A shipper that is killed again and again while the log grows gives what one that lives gives."""
    path = tmp_path / "train.log"
    path.write_text("")
    command = [sys.executable, "-m", "astra", "astraeus", *SHIP, "--attempt", "1", "--no-stamp", str(path)]
    written = 0
    for _ in range(3):
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        with path.open("a") as log:
            log.write("".join(STEP.format(n // 60, n % 60, n) for n in range(written, written + 100)))
        written += 100
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(4)
        child.send_signal(signal.SIGKILL)
        child.wait()
    done = process(*SHIP, "--attempt", "1", "--no-follow", str(path))
    assert done.returncode == 0
    found = measurement(shipping)
    assert found["read"] == {"lines": written, "bytes": path.stat().st_size, "dropped": 0}
    status = found["status"]
    assert isinstance(status, dict)
    assert (status["stepLines"], status["currentStep"]) == (written, written - 1)
    assert status["interruptionCount"] == 1  # the second attempt that the ledger knows of, without a log


def test_a_pipe_is_shipped(shipping: Acme) -> None:
    text = "".join(STEP.format(n // 60, n % 60, n) for n in range(50))
    command = [sys.executable, "-m", "astra", "astraeus", *SHIP, "-"]
    for known in (False, True):
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr[:2]) == (0, "0 " if known else "50")
    status = measurement(shipping)["status"]
    assert isinstance(status, dict)
    assert (status["stepLines"], status["currentStep"]) == (50, 49)


def test_a_profile_is_tried_on_a_file(here: Acme, astra: Astra, tmp_path: Path) -> None:
    path, own = tmp_path / "train.log", tmp_path / "own.yaml"
    path.write_text(STEP.format(0, 1, 7) + "noise\n")
    done = astra("astraeus", "profiles", "test", "maxtext", str(path))
    assert done.code == 0
    assert done.out.splitlines()[1].split() == [
        "1", "trainingStep", "2026-10-01T12:00:01.000Z", "globalStep=7", "stepTiming=1.0s", "tflops=100.0",
    ]  # fmt: skip
    own.write_text(
        "spec: {timestamp: {layout: RFC3339}, patterns: {trainingStep: {regex: 'step: (?P<globalStep>\\d+)'}}}"
    )
    assert "currentStep" in astra("astraeus", "profiles", "test", str(own), str(path)).out
    told = json.loads(astra("astraeus", "profiles", "test", "maxtext", str(path), "--json").out)
    assert told["matched"] == {"trainingStep": 1}
    wrong = astra("astraeus", "profiles", "test", "nobody", str(path))
    assert (wrong.code, wrong.err) == (1, "astra: There is no log profile nobody, nor a file.\n")
    own.write_text("spec: {timestamp: {layout: RFC3339}, patterns: {trainingStep: {regex: '('}}}")
    bad = astra("astraeus", "profiles", "test", str(own), str(path))
    assert bad.code == 1
    assert "spec.patterns.trainingStep.regex: does not compile" in bad.err


def test_what_the_server_refuses_is_said(server: Scripted, astra: Astra, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("one\n")
    server.says("runs/llm", lambda _: document({"workers": []}))
    done = astra("astraeus", "logs", "ship", "--run", "llm", "--no-follow", "--state", str(tmp_path / "s"), str(path))
    assert done.code == 1
    assert astra("astraeus", "logs", "ship", "--run", "llm", "--no-follow", "nowhere").code == 2
