"""The command as a process: readers that leave early, terminals and their alphabets, and a shell that completes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from tests.client.scripted import LEDGERS, Answer, Scripted, document, envelope, ledger, row
from tests.site.running import eventually

CLIENT = Path(__file__).parents[2] / "client"
GOODPUT = [sys.executable, "-m", "astra", "astraeus", "goodput", "--by", "run"]
MANY = envelope([row(f"run-{n} ü", ledger(productive=1), uid=f"{n}") for n in range(4_000)], ledger(productive=4_000))
FEW = envelope([row("llm ü", ledger(productive=1), uid="1")], ledger(productive=1))


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(CLIENT), "TERM": "xterm", **more}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_leaves_early_is_no_error(server: Scripted, form: list[str]) -> None:
    server.says(LEDGERS, MANY)
    process = subprocess.Popen(
        [*GOODPUT, *form], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stderr:
        assert process.stdout.read(9)
        process.stdout.close()
        assert (process.stderr.read(), process.wait(90)) == (b"", 0)


def test_a_terminal_without_the_letter_gets_its_number(server: Scripted) -> None:
    server.says(LEDGERS, FEW)
    done = subprocess.run(GOODPUT, env=environment(PYTHONIOENCODING="ascii"), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\nllm \\xfc " in done.stdout


def shown_on_a_terminal(**more: str) -> bytes:
    """Return what a terminal of 40 columns is sent."""
    ours, its = pty.openpty()
    process = subprocess.Popen(GOODPUT, env=environment(COLUMNS="40", **more), stdout=its, stderr=its, stdin=its)
    os.close(its)
    sent = b""
    try:
        while piece := os.read(ours, 4096):
            sent += piece
    except OSError:  # how Linux says that the other end was closed
        pass
    finally:
        os.close(ours)
    assert process.wait(90) == 0
    return sent.replace(b"\r\n", b"\n")


def test_only_a_terminal_gets_styles(server: Scripted) -> None:
    server.says(LEDGERS, FEW)
    piped = subprocess.run(GOODPUT, env=environment(), capture_output=True).stdout
    assert b"\x1b" not in piped
    assert b"\x1b[1mGPU-hours" in shown_on_a_terminal()
    assert shown_on_a_terminal(NO_COLOR="1").count(b"\n") == piped.count(b"\n")
    assert shown_on_a_terminal(TERM="dumb") == piped


def test_a_shell_completes(server: Scripted) -> None:
    server.says(LEDGERS, FEW)
    script = subprocess.run(
        [sys.executable, "-m", "astra", "completion", "bash"], env=environment(), capture_output=True
    )
    assert b"complete -o nosort -F _astra_completion astra" in script.stdout
    asks = {"_ASTRA_COMPLETE": "bash_complete", "COMP_WORDS": "astra astraeus goodput --run l", "COMP_CWORD": "4"}
    done = subprocess.run([sys.executable, "-m", "astra"], env=environment(**asks), capture_output=True, text=True)
    assert done.stdout == "plain,llm ü\n"


def heed_interrupts() -> None:
    """What a shell started in the background ignores interrupts, and so would what this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interruption_is_quiet(server: Scripted) -> None:
    answered = Event()

    def slowly(_: dict[str, str]) -> Answer:
        answered.wait(30)
        return document(FEW)

    server.says(LEDGERS, slowly)
    process = subprocess.Popen(
        GOODPUT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    )
    try:
        eventually(lambda: bool(server.requests))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        answered.set()
        process.kill()
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
