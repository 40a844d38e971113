"""A decoded batch of observations: what a source says, checked item by item, before any of it is counted."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ledger.core.categories import Phase
from ledger.core.streams import Doing


class Refusal(NamedTuple):
    """An item that was not taken: which list and place, which field, and one clear error word or sentence."""

    list: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an item
    field: str
    error: str
    item: Any


class MachineItem(NamedTuple):
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an item
    name: str
    pool: str | None
    gpus_milli: int | None
    ready: bool | None


class RunItem(NamedTuple):
    """A run's labels; None = not said. Instants are ms; `min_goodput_milli` is in thousandths."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an item
    uid: str
    workspace: str | None
    name: str | None
    kind: str | None
    user: str | None
    submitted_at: int | None
    ended_at: int | None
    outcome: str | None
    min_goodput_milli: int | None
    conditions: tuple["Condition", ...] | None = None
    log_profile: str | None = None


class Condition(NamedTuple):
    """What a source says of a run, in its own words; `at` in ms, None = not said."""

    type: str
    status: str
    reason: str
    message: str
    at: int | None


class WorkerItem(NamedTuple):
    """A state. `machine` given means that `pool` is given too ("" = none); `phase` NONE and `reason` "" = absent.

    `pod` (namespace/name) and `devices` (of its machine) say where readings of its GPUs are found: labels.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an item
    run: str
    worker: str
    at: int
    phase: Phase
    reason: str
    attempt: int | None
    gpus_milli: int | None
    machine: str | None
    pool: str | None
    stalled: bool | None
    pod: str | None = None
    devices: tuple[str, ...] | None = None


class ReadingItem(NamedTuple):
    """A sample. Busy in thousandths of a percent (floored), `since` the optional `from`, all instants in ms."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an item
    run: str
    worker: str
    at: int
    since: int | None
    busy_milli_percent: int | None
    step: int | None
    step_ms: int | None
    doing: Doing = Doing.NONE


@dataclass(slots=True)
class Batch:
    """One delivery of one source. `named`: every (run uid, worker) that the list names, refused items included."""

    source: str
    sent_at: int
    seen_from: int | None = None
    complete: bool = False
    machines: list[MachineItem] = field(default_factory=list)
    runs: list[RunItem] = field(default_factory=list)
    workers: list[WorkerItem] = field(default_factory=list)
    readings: list[ReadingItem] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    named: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class Receipt:
    """What became of a batch: item counts, and the items refused."""

    accepted: int = 0
    duplicate: int = 0
    late: int = 0
    refused: list[Refusal] = field(default_factory=list)
