"""A JAX loop. A step returns before the device is done, so the result is waited for where the step is timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax

from astra import GoodputReporter, GoodputTracker


def train(
    update: Callable[[Any, Any], Any], state: Any, batches: Iterable[Any], steps: int, evaluate_every: int = 100
) -> tuple[Any, GoodputTracker]:
    tracker = GoodputTracker()
    reporter = GoodputReporter(worker=f"worker-{jax.process_index()}", tracker=tracker)
    step_of = jax.jit(update)
    source = iter(batches)
    for step in range(steps):
        tracker.start_batch()
        with tracker.time_source():
            batch = next(source)
        with tracker.time_transfer():
            batch = jax.block_until_ready(jax.device_put(batch))
        tracker.end_batch()
        with reporter.step(step):  # the first one compiles: nothing is told before it is done, so it is no stall
            state = jax.block_until_ready(step_of(state, batch))
        if step % evaluate_every == evaluate_every - 1:
            with reporter.phase("evaluation"):
                jax.block_until_ready(step_of(state, batch))
    reporter.close()
    return state, tracker
