"""Observations of a fleet, minute by minute, as an agent would send them: bodies of JSON."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

SOURCE = "bench"
GANG = 8
EPISODE = ("pending", "starting", "running")  # what a worker goes through that is preempted and placed again
PARTS = 100 * len(EPISODE)  # of which as many change in a minute as an episode has states: 1 % of the workers


@dataclass(frozen=True)
class Body:
    """A body and how many of its items are states or readings."""

    content: bytes
    items: int


def first(workers: int, at: float, size: int) -> Iterator[Body]:
    """Tell the whole fleet: runs, machines and that everything is running since `at` (s)."""
    for begin in range(0, workers, size):
        part = range(begin, min(begin + size, workers))
        runs = [
            {"uid": f"run-{run}", "workspace": "research", "name": f"train-{run}", "user": f"user-{run % 50}"}
            for run in sorted({worker // GANG for worker in part})
        ]
        states = [state(worker, "running", at, attempt=1) for worker in part]
        yield body(at, len(states), runs=runs, workers=states)


def minute(number: int, workers: int, at: float, size: int) -> Iterator[Body]:
    """Tell a minute (counted from 1): a reading of each worker that runs, and 1 % of the workers change state."""
    for begin in range(0, workers, size):
        states, readings = [], []
        for worker in range(begin, min(begin + size, workers)):
            stage = number - 1 - worker % PARTS
            if 0 <= stage < len(EPISODE):
                states.append(state(worker, EPISODE[stage], at, attempt=2))
            else:
                readings.append(reading(worker, at, number))
        yield body(at, len(states) + len(readings), workers=states, readings=readings)


def states_alone(number: int, workers: int, at: float, size: int) -> Iterator[Body]:
    """Tell a minute (counted from 1) in which every worker changes state."""
    attempt = 2 + (number - 1) // len(EPISODE)
    phase = EPISODE[(number - 1) % len(EPISODE)]
    for begin in range(0, workers, size):
        part = range(begin, min(begin + size, workers))
        yield body(at, len(part), workers=[state(worker, phase, at, attempt) for worker in part])


def state(worker: int, phase: str, at: float, attempt: int) -> dict[str, Any]:
    """Return a state as an agent sends it; a wait names no machine."""
    told = {**key(worker), "at": instant(at), "phase": phase, "attempt": attempt, "gpus": 8}
    if phase == "pending":
        return {**told, "reason": "preemption"}
    return {**told, "machine": f"node-{worker}", "pool": f"pool-{worker % 4}"}


def reading(worker: int, at: float, step: int) -> dict[str, Any]:
    """Return a reading as an agent sends it."""
    return {**key(worker), "at": instant(at), "gpu_busy": 60 + worker % 40 + 0.5, "step": step, "step_seconds": 9.25}


def key(worker: int) -> dict[str, str]:
    """Return how an item names its worker."""
    return {"run": f"run-{worker // GANG}", "worker": f"worker-{worker % GANG}"}


def body(at: float, items: int, **lists: Any) -> Body:
    """Return a batch with its word."""
    return Body(json.dumps({"source": SOURCE, "sent_at": instant(at), **lists}).encode(), items)


def instant(at: float) -> str:
    """Return RFC 3339 of seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
