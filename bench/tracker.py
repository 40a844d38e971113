"""What the tracker and the reporter cost training: a batch and a step beside a bare loop, and memory over many batches.

python -m bench.tracker [--batches 10000000]
"""

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "client"))

from astra import GoodputReporter, GoodputTracker

LOOPS = 200_000
TRIES = 7


def bare(loops: int) -> None:
    for _ in range(loops):
        pass


def batches(tracker: GoodputTracker) -> Callable[[int], None]:
    """Return a loop of batches with three stages, all empty."""

    def loop(loops: int) -> None:
        for _ in range(loops):
            tracker.start_batch()
            with tracker.time_source():
                pass
            with tracker.time_transform():
                pass
            with tracker.time_transfer():
                pass
            tracker.end_batch()

    return loop


def steps(reporter: GoodputReporter) -> Callable[[int], None]:
    def loop(loops: int) -> None:
        for number in range(loops):
            with reporter.step(number):
                pass

    return loop


def cost_us(loop: Callable[[int], None]) -> float:
    """Return microseconds of CPU a turn, the least of some tries, less what the bare loop takes."""
    return min(spent(loop) for _ in range(TRIES)) - min(spent(bare) for _ in range(TRIES))


def spent(loop: Callable[[int], None]) -> float:
    began = time.thread_time_ns()
    loop(LOOPS)
    return (time.thread_time_ns() - began) / LOOPS / 1000


def grown(count: int) -> tuple[int, int]:
    """Return bytes that are allocated after a hundredth of so many batches, and after all of them."""
    tracker = GoodputTracker()
    loop = batches(tracker)
    loop(count // 100)
    tracemalloc.start()
    loop(2_000)
    first = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    loop(count - count // 100 - 4_000)
    tracemalloc.start()
    loop(2_000)
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert tracker.totals().batches == count
    return first, last


def main() -> None:
    """Print the figures; fail when memory has grown."""
    parser = argparse.ArgumentParser(prog="python -m bench.tracker", description=__doc__)
    parser.add_argument("--batches", type=int, default=10_000_000, help="batches over which memory is watched")
    asked = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, CPU time of the thread, least of {TRIES}")
    print(f"a batch with three stages: {cost_us(batches(GoodputTracker())):.2f} µs")
    with GoodputReporter("bench", "w0", api="http://127.0.0.1:9", token="none", spool="/nonexistent") as reporter:
        print(f"a step of the reporter: {cost_us(steps(reporter)):.2f} µs")
    first, last = grown(asked.batches)
    print(f"memory of the last 1,000 batches: {first:,} bytes, after {asked.batches:,} batches {last:,}")
    assert last < first * 1.1 + 10_000, "memory has grown"


if __name__ == "__main__":
    main()
