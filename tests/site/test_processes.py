"""Children that go with their parent, and the dead that look alive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from goodput_site.processes import is_alive, state_of, wait_until, working_in
from tests.site.running import eventually

PARENT = """
import os, signal, subprocess, sys
from goodput_site.processes import dying_with
child = subprocess.Popen(["sleep", "60"], preexec_fn=dying_with(signal.SIGTERM, os.getpid()), start_new_session=True)
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_a_child_goes_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=-1, stdout=-1, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.kill()
        eventually(lambda: not is_alive(child))


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen(["true"])
    eventually(lambda: state_of(child.pid) == "Z")
    os.kill(child.pid, 0)  # the kernel still knows it: this is what a look at the pid alone would see
    assert not is_alive(child.pid)
    child.wait()
    assert state_of(child.pid) == ""


def test_who_works_in_a_folder(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as child:
        eventually(lambda: working_in(tmp_path) == [child.pid])
        child.send_signal(signal.SIGKILL)
        eventually(lambda: state_of(child.pid) == "Z")
        assert working_in(tmp_path) == []


def test_waiting_gives_up_in_time() -> None:
    answers = iter([False, False, True])
    assert wait_until(lambda: next(answers), 5)
    assert not wait_until(lambda: False, 0)
