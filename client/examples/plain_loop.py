"""A plain training loop that tells a ledger how it goes.

ASTRALYX_API=https://goodput.example.com ASTRALYX_TOKEN=goodput_… ASTRALYX_RUN=llm ASTRALYX_WORKER=worker-0 \
    python plain_loop.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from astra import GoodputReporter, GoodputTracker

STEPS = 200
SAVE_EVERY = 50


def batches(tracker: GoodputTracker) -> Iterator[list[float]]:
    """Read and prepare a batch at a time; each stage is timed where it happens."""
    while True:
        tracker.start_batch()
        with tracker.time_source():
            raw = [random.random() for _ in range(1_000)]
        with tracker.time_transform():
            batch = [2 * value - 1 for value in raw]
        with tracker.time_transfer():
            time.sleep(0.0005)
        tracker.end_batch()
        yield batch


def main(steps: int = STEPS) -> None:
    tracker = GoodputTracker()
    with GoodputReporter(tracker=tracker) as reporter:
        for step, batch in zip(range(steps), batches(tracker)):
            with reporter.step(step):
                loss = sum(value * value for value in batch)
            if step % SAVE_EVERY == SAVE_EVERY - 1:
                with reporter.phase("checkpoint"):
                    time.sleep(0.01)
        print(f"loss {loss:.3f}", tracker.summary())


if __name__ == "__main__":
    main()
