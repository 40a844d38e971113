"""The end of a process: reports arrive or are kept, and the process ends as it would have without a reporter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.reports import TOKEN, Ledger, ledger

CLIENT = Path(__file__).parents[2] / "client"
HEAD = """
import os, signal, sys, time
from astra import GoodputReporter
said = GoodputReporter(every_sec=60)
"""


@pytest.fixture
def east() -> Iterator[Ledger]:
    with ledger() as east:
        yield east


def start(east: Ledger, spool: Path, program: str) -> subprocess.Popen[str]:
    said = {"API": east.address, "TOKEN": TOKEN, "RUN": "r1", "WORKER": "w0", "SPOOL": str(spool)}
    env = {f"ASTRALYX_{name}": value for name, value in said.items()} | {"PYTHONPATH": str(CLIENT)}
    env["PATH"] = os.environ["PATH"]
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + program], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def steps(east: Ledger) -> list[int]:
    return [report["step"] for report in east.reports]


def test_the_last_step_arrives_at_the_end(east: Ledger, tmp_path: Path) -> None:
    assert ended(start(east, tmp_path, "said.progress(5)")) == (0, "", "")
    assert steps(east)[-1] == 5


def test_an_exception_ends_the_process_as_ever(east: Ledger, tmp_path: Path) -> None:
    code, _, err = ended(start(east, tmp_path, "said.progress(5)\nwith said.step(6):\n    raise KeyError('x')"))
    assert (code, "KeyError: 'x'" in err) == (1, True)
    assert steps(east)[-1] == 5


def terminate(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    return ended(process)


def test_sigterm_flushes_and_ends_it(east: Ledger, tmp_path: Path) -> None:
    process = start(east, tmp_path, "said.progress(7)\nprint('ready', flush=True)\ntime.sleep(60)")
    assert terminate(process) == (-signal.SIGTERM, "", "")
    assert steps(east)[-1] == 7


def test_a_handler_that_was_there_is_called_and_decides(east: Ledger, tmp_path: Path) -> None:
    program = """
said.close()
signal.signal(signal.SIGTERM, lambda *_: (print("mine"), sys.exit(3)))
import astra.reporter
said = GoodputReporter(every_sec=60)
said.progress(8)
print("ready", flush=True)
time.sleep(60)
"""
    program = program.replace("import astra.reporter", "astra.reporter._BEFORE.clear()")
    program = "import astra.reporter\n" + program
    assert terminate(start(east, tmp_path, program)) == (3, "mine\n", "")
    assert steps(east)[-1] == 8


def test_a_server_that_is_away_gets_it_from_the_next_process(east: Ledger, tmp_path: Path) -> None:
    east.status = 503
    code, _, err = ended(start(east, tmp_path, "said.progress(5)"))
    assert (code, err.count("astra: ")) == (0, 1)
    east.status = 200
    assert ended(start(east, tmp_path, "said.progress(6)")) == (0, "", "")
    assert [steps(east)[0], steps(east)[-1]] == [5, 6]
    assert list(tmp_path.rglob("*.ndjson")) == []


def test_what_was_spooled_outlives_a_kill(east: Ledger, tmp_path: Path) -> None:
    east.status = 503
    program = "said.progress(5)\nsaid.flush()\nprint('ready', flush=True)\ntime.sleep(60)"
    process = start(east, tmp_path, program)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.kill()
    ended(process)
    east.status = 200
    assert ended(start(east, tmp_path, "said.progress(6)"))[0] == 0
    assert steps(east)[0] == 5


def test_a_server_that_never_answers_does_not_keep_a_process_alive(east: Ledger, tmp_path: Path) -> None:
    east.hold.clear()
    code, out, _ = ended(start(east, tmp_path, "said.progress(5)\nprint(time.monotonic())"))
    assert (code, bool(out)) == (0, True)
    assert len(list(tmp_path.rglob("*.ndjson"))) == 1
