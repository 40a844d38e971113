"""What Linux offers to keep children from outliving their parent, and to see who is really alive."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1


def prctl(option: int, value: int) -> None:
    """Call the kernel; raises OSError when it refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def die_with_parent(sign: int = signal.SIGTERM, parent: int | None = None) -> None:
    """Ask for `sign` when the parent dies, and now if it is no longer `parent` (its pid)."""
    prctl(PR_SET_PDEATHSIG, sign)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), sign)


def die_with_supervised_parent() -> None:
    """For what a supervised process forks: go when it goes, so that none keeps its port or its task."""
    if os.environ.get("GOODPUT_SUPERVISED"):
        die_with_parent(signal.SIGKILL)


def dying_with(sign: int, parent: int) -> Callable[[], None]:
    """A `preexec_fn` for subprocess: the child gets `sign` when the process `parent` dies, even by kill -9.

    It runs after the child has changed its user, which would clear the wish.
    """
    return lambda: die_with_parent(sign, parent)


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody reaped does not."""
    return state_of(pid) not in ("", "Z", "X")


def state_of(pid: int) -> str:
    """The state letter of /proc/<pid>/stat, "" when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[0]


def working_in(folder: Path) -> list[int]:
    """Pids of living processes that work in `folder`, as each process of a Postgres does in its data."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            inside = os.readlink(entry / "cwd") == str(folder)
        except OSError:
            continue
        if inside and is_alive(int(entry.name)):
            found.append(int(entry.name))
    return sorted(found)


def wait_until(true: Callable[[], bool], seconds: float, pause: float = 0.02) -> bool:
    """Poll until `true()` or until `seconds` are over; the last answer."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() >= end:
            return False
        time.sleep(pause)
    return True
