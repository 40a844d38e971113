"""What work costs: by the clock, and in CPU of this process and of Postgres, which a busy machine does not stretch."""

import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TICK = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Seconds by the clock, and of CPU."""

    wall: float
    cpu: float


Measured = dict[str, list[Cost]]


def timed(into: list[Cost], work: Callable[[], Any]) -> Any:
    """Run `work`, note what it cost, and return what it returned."""
    postgres, ours, began = postgres_cpu(), time.process_time(), time.perf_counter()
    result = work()
    wall, ours = time.perf_counter() - began, time.process_time() - ours
    into.append(Cost(wall, ours + postgres_cpu() - postgres))
    return result


def median(costs: Iterable[Cost]) -> Cost:
    """Return the median of each figure by itself."""
    return Cost(*(statistics.median(figures) for figures in zip(*costs, strict=True)))


def postgres_cpu() -> float:
    """Return the CPU seconds of all processes of our Postgres so far, those that ended included."""
    from goodput_site.places import places
    from goodput_site.processes import working_in

    data = places().data
    postmaster = (data / "postmaster.pid").read_text().split("\n", 1)[0]
    ended = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()[13:15]
    return cpu_of(working_in(data)) + sum(map(int, ended)) / TICK


def cpu_of(pids: Sequence[int]) -> float:
    """Return the CPU seconds of living processes, all their threads, so far."""
    return sum(_ran(task) for pid in pids for task in _files(f"/proc/{pid}/task", "*/schedstat"))


def below(pid: int) -> list[int]:
    """Return the pids of a process and of all below it."""
    found = [pid]
    for children in _files(f"/proc/{pid}/task", "*/children"):
        for child in children.read_text().split():
            found += below(int(child))
    return found


def _files(folder: str, pattern: str) -> list[Path]:
    return list(Path(folder).glob(pattern))


def _ran(schedstat: Path) -> float:
    try:
        return int(schedstat.read_text().split()[0]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
