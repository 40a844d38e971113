"""The eight categories and the one table that decides between them."""

from enum import IntEnum


class Category(IntEnum):
    """Where an instant of a worker's life went; the order is the order of every table and tie-break."""

    PRODUCTIVE = 0
    IDLE = 1
    STALLED = 2
    STARTING = 3
    RESTART = 4
    FAILURE = 5
    PREEMPTION = 6
    WAITING = 7

    @property
    def label(self) -> str:
        return self.name.lower()


DEFINITIONS = {
    Category.PRODUCTIVE: "running, and its GPUs are busy",
    Category.IDLE: "running, and its GPUs are not busy",
    Category.STALLED: "held without progress: the same step for too long, or said so by its source",
    Category.STARTING: "placed for the first time, not yet running: image, drives, waiting for its gang",
    Category.RESTART: "placed again after an earlier attempt, not yet running",
    Category.FAILURE: "failed or lost, or waiting to be placed again after a failure",
    Category.PREEMPTION: "being preempted or drained, or waiting to be placed again after it",
    Category.WAITING: "asked for and not yet placed",
}


class Phase(IntEnum):
    """The phase that a state gives; the order decides between states of one instant and attempt."""

    NONE = 0
    PENDING = 1
    STARTING = 2
    RUNNING = 3
    STOPPING = 4
    FAILED = 5
    LOST = 6
    ENDED = 7

    @property
    def label(self) -> str:
        return "" if self is Phase.NONE else self.name.lower()


HELD = frozenset({Phase.STARTING, Phase.RUNNING, Phase.STOPPING, Phase.FAILED, Phase.LOST})
OVER = frozenset({Phase.NONE, Phase.ENDED})

REASONS = (
    "owner", "time_limit", "completed", "scale_down", "failure",
    "node_lost", "gpu_fault", "stalled", "preemption", "drain",
)  # fmt: skip
FAILURES = frozenset({"failure", "node_lost", "gpu_fault"})
PREEMPTIONS = frozenset({"preemption", "drain"})


def categorize(
    phase: Phase,
    *,
    reason: str = "",
    cause: str = "",
    placed: bool = False,
    attempt: int = 1,
    stalled: bool = False,
    busy: bool | None = None,
    unmeasured_as: Category = Category.PRODUCTIVE,
) -> Category | None:
    """Return the category of an instant, None when nothing is counted.

    `reason` is that of the phase, `cause` that of the wait, `placed` whether this life was ever placed,
    `busy` the last usable reading (None: never one). The first row that matches wins; the table is total.
    """
    if phase in OVER:
        return None
    if phase is Phase.PENDING:
        return _of_a_wait(cause, placed)
    if phase is Phase.STARTING:
        return Category.STARTING if attempt == 1 else Category.RESTART
    if phase is Phase.RUNNING:
        return _of_running(stalled, busy, unmeasured_as)
    if phase is Phase.STOPPING:
        return _of_stopping(reason, stalled)
    return Category.FAILURE


def _of_a_wait(cause: str, placed: bool) -> Category:
    if not placed:
        return Category.WAITING
    if cause in FAILURES:
        return Category.FAILURE
    if cause == "stalled":
        return Category.STALLED
    return Category.PREEMPTION if cause in PREEMPTIONS else Category.WAITING


def _of_running(stalled: bool, busy: bool | None, unmeasured_as: Category) -> Category:
    if stalled:
        return Category.STALLED
    if busy is None:
        return unmeasured_as
    return Category.PRODUCTIVE if busy else Category.IDLE


def _of_stopping(reason: str, stalled: bool) -> Category:
    if stalled or reason == "stalled":
        return Category.STALLED
    if reason in PREEMPTIONS:
        return Category.PREEMPTION
    return Category.FAILURE if reason in FAILURES else Category.PRODUCTIVE
