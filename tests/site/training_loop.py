"""One worker of a gang that trains: asynchronous SGD in numpy on weights that all of them share in a file.

python training_loop.py SHARED WORKER STEP_SECONDS HANGS_AFTER EVERY_SECONDS LOG

Each takes its own steps; who begins goes on where the farthest is, as from a checkpoint. After `HANGS_AFTER` steps (0:
never) it hangs. What it reports is also written to LOG, a line each.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from astra import GoodputReporter, GoodputTracker

FEATURES, ROWS, RATE = 32, 64, 0.05
TRUTH = np.linspace(-1.0, 1.0, FEATURES)
SHARED = np.dtype([("weights", float, FEATURES), ("steps", np.int64, 16)])


class Logged(GoodputReporter):
    """A reporter that also writes down what it reports."""

    log: Path

    def _report(self) -> dict[str, Any] | None:
        said = super()._report()
        if said is not None:
            with self.log.open("a") as file:
                file.write(json.dumps(said) + "\n")
        return said


def shared(path: Path) -> Any:
    """The weights and each worker's steps, as all of them see them."""
    return np.memmap(path, SHARED, "r+", shape=(1,))[0]


def make(path: Path) -> None:
    np.zeros(1, SHARED).tofile(path)


def error(path: Path) -> float:
    """How far the weights are from what is to be learned; 0 is all of it."""
    return float(np.abs(shared(path)["weights"] - TRUTH).max())


def train(path: Path, number: int, pace: float, hangs_after: int, every: float, log: Path) -> None:
    ours = shared(path)
    rng = np.random.default_rng(number)
    tracker = GoodputTracker()
    Logged.log = log
    reporter = Logged(tracker=tracker, every_sec=every)
    begin = int(ours["steps"].max()) + 1
    for step in range(begin, begin + 1_000_000):
        tracker.start_batch()
        with tracker.time_source():
            rows = rng.normal(size=(ROWS, FEATURES))
        with tracker.time_transform():
            rows = rows - rows.mean(axis=0)
        with tracker.time_transfer():
            targets = rows @ TRUTH
        tracker.end_batch()
        with reporter.step(step):
            gradient = rows.T @ (rows @ ours["weights"] - targets) / ROWS
            time.sleep(pace)  # the rest of what a GPU would do
            ours["weights"] -= RATE * gradient
        ours["steps"][number] = step
        if step == begin + hangs_after - 1:
            time.sleep(3_600)


if __name__ == "__main__":
    at, number, pace, hangs_after, every, log = sys.argv[1:]
    train(Path(at), int(number), float(pace), int(hangs_after), float(every), Path(log))
