"""What deliveries in the wire format say, for the oracle: states, streams, words, lists, deaths.

Instants are UTC ms, GPUs milli-GPUs. It knows nothing of the code that the oracle judges.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

FOREVER = 1 << 62
PHASES = ("", "pending", "starting", "running", "stopping", "failed", "lost", "ended")
REASONS = (
    "owner", "time_limit", "completed", "scale_down", "failure",
    "node_lost", "gpu_fault", "stalled", "preemption", "drain",
)  # fmt: skip
NO_POOL = "none"
BLANK = 9_223_372_036_854_775_794
ROW_OF_LISTS_MS = 30_000

type_batch = Mapping[str, Any]
type_worker = tuple[str, str]  # run uid, worker name


class Rule(NamedTuple):
    """Dated settings, in force from the whole hour `since` on."""

    since: int
    unmeasured_as: str = "productive"
    readings_expected: bool = True


class Settings(NamedTuple):
    busy_percent: str = "5"
    stall_after: int = 600_000
    carry_max: int = 300_000
    rules: tuple[Rule, ...] = ()


class State(NamedTuple):
    at: int
    attempt: int | None
    phase: str
    reason: str
    gpus_milli: int | None
    machine: str | None
    pool: str | None
    stalled: bool | None
    source: str

    def order(self) -> tuple[Any, ...]:
        def absent_first(value: Any, blank: Any) -> tuple[bool, Any]:
            return (value is not None, blank if value is None else value)

        return (
            self.at,
            self.attempt or 0,
            PHASES.index(self.phase),
            self.reason,
            absent_first(self.gpus_milli, 0),
            absent_first(self.machine, ""),
            absent_first(self.pool, ""),
            absent_first(self.stalled, 0),
            self.source,
        )


class Busy(NamedTuple):
    at: int
    busy: bool
    covers_from: int


class Step(NamedTuple):
    at: int
    step: int
    step_ms: int | None
    doing: str = ""


class Listing(NamedTuple):
    at: int
    workers: frozenset[type_worker]


@dataclass
class Facts:
    """What all deliveries say, as they say it: per worker and per source."""

    states: dict[type_worker, set[State]] = field(default_factory=dict)
    busy: dict[type_worker, list[Busy]] = field(default_factory=dict)
    steps: dict[type_worker, list[Step]] = field(default_factory=dict)
    words: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    lists: dict[str, list[Listing]] = field(default_factory=dict)

    def workers(self) -> list[type_worker]:
        return sorted(self.states)


def instant(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def milli(number: Any) -> int:
    """Return a JSON number in thousandths, floored."""
    return int(Decimal(str(number)) * 1000 // 1)


# --- reading the deliveries ---


def read(deliveries: Iterable[type_batch], settings: Settings) -> Facts:
    facts = Facts()
    known_runs: set[str] = set()
    for batch in deliveries:
        source, sent_at = batch["source"], instant(batch["sent_at"])
        seen_from = instant(batch["seen_from"]) if batch.get("seen_from") else sent_at
        facts.words.setdefault(source, set()).add((seen_from, sent_at + settings.carry_max))
        known_runs |= {run["uid"] for run in batch.get("runs", ())}
        known = [item for item in batch.get("workers", ()) if item["run"] in known_runs]
        pools = {machine["name"]: machine.get("pool") or NO_POOL for machine in batch.get("machines", ())}
        for item in known:
            if not is_refused(item):
                worker = (item["run"], item["worker"])
                facts.states.setdefault(worker, set()).add(state_of(item, source, pools))
        for item in batch.get("readings", ()):
            if item["run"] in known_runs:
                _reading(facts, item, settings)
        if batch.get("complete"):
            present = frozenset((item["run"], item["worker"]) for item in known)
            facts.lists.setdefault(source, []).append(Listing(sent_at, present))
    facts.busy = {worker: _in_order(stream) for worker, stream in facts.busy.items()}
    facts.steps = {worker: _in_order(stream) for worker, stream in facts.steps.items()}
    facts.lists = {source: _in_order(stream) for source, stream in facts.lists.items()}
    return facts


def _in_order(stream: list[Any]) -> list[Any]:
    """Keep what is newer than all that was delivered before it."""
    return [one for index, one in enumerate(stream) if all(before.at < one.at for before in stream[:index])]


def is_refused(item: Mapping[str, Any]) -> bool:
    phase, reason = item.get("phase") or "", item.get("reason") or ""
    return phase not in PHASES or (reason != "" and (reason not in REASONS or phase == ""))


def is_blank(busy: Any) -> bool:
    return busy in (None, "N/A", BLANK)


def state_of(item: Mapping[str, Any], source: str, pools: Mapping[str, str]) -> State:
    machine, pool, gpus = item.get("machine"), item.get("pool"), item.get("gpus")
    if machine is not None and pool is None:
        pool = pools.get(machine, NO_POOL)
    return State(
        at=instant(item["at"]),
        attempt=item.get("attempt"),
        phase=item.get("phase") or "",
        reason=item.get("reason") or "",
        gpus_milli=None if gpus is None else milli(gpus),
        machine=machine,
        pool=pool,
        stalled=item.get("stalled"),
        source=source,
    )


def _reading(facts: Facts, item: Mapping[str, Any], settings: Settings) -> None:
    worker, at = (item["run"], item["worker"]), instant(item["at"])
    busy, step, seconds = item.get("gpu_busy"), item.get("step"), item.get("step_seconds")
    if not is_blank(busy):
        covers_from = instant(item["from"]) if item.get("from") else at
        is_busy = milli(busy) >= milli(settings.busy_percent)
        facts.busy.setdefault(worker, []).append(Busy(at, is_busy, covers_from))
    if step is not None:
        step_ms = None
        if seconds is not None:
            step_ms = int((Decimal(str(seconds)) * 1000).quantize(Decimal(1), ROUND_HALF_EVEN))
        facts.steps.setdefault(worker, []).append(Step(at, step, step_ms, item.get("doing") or ""))


# --- what lists say: gone ---


def deaths(facts: Facts, worker: type_worker) -> list[int]:
    """Return the instants at which lists show that the worker ended (after all states of that instant)."""
    states = facts.states.get(worker, set())
    found = []
    for lists in facts.lists.values():
        for at, missing_since, proof in _gones(lists, worker):
            if not any(missing_since < state.at <= at for state in states):
                found.append(max([proof] + [state.at for state in states if state.at <= missing_since]))
    return found


def _gones(lists: list[Listing], worker: type_worker) -> Iterable[tuple[int, int, int]]:
    for before, first in itertools.pairwise(lists):
        if worker in before.workers and worker not in first.workers:
            back = [one.at for one in lists if one.at > first.at and worker in one.workers]
            row = [one.at for one in lists if first.at <= one.at < min(back, default=FOREVER)]
            enough = [at for at in row if at - first.at >= ROW_OF_LISTS_MS]
            if enough:
                yield enough[0], first.at, before.at
