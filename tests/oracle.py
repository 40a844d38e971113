"""The ledger by the letter: every elementary interval asks the raw facts, nothing is carried forward.

It knows the wire format and the words of the quantities, and nothing of the code it judges.
Instants are UTC ms, GPUs milli-GPUs, amounts GPU-microseconds. Slow on purpose: clear first.
"""

import itertools
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

from tests.evidence import (
    FOREVER,
    NO_POOL,
    Facts,
    Rule,
    Settings,
    State,
    Step,
    deaths,
    read,
    type_batch,
    type_worker,
)  # fmt: skip

HOUR = 3_600_000
HELD = ("starting", "running", "stopping", "failed", "lost")
FAILURES = ("failure", "node_lost", "gpu_fault")
PREEMPTIONS = ("preemption", "drain")
LINES = (
    "productive", "idle", "stalled", "starting", "restart", "failure", "preemption", "waiting",
    "unobserved", "unobserved_productive",
)  # fmt: skip
UNPLACED, UNKNOWN = "unplaced", "unknown"

type_cell = tuple[int, str, str, str]  # hour, run uid, machine, pool


class Segment(NamedTuple):
    """A stretch of one worker's life in which nothing changes."""

    start: int
    end: int
    category: str
    unobserved: bool
    gpus_milli: int
    machine: str
    pool: str


# --- one worker at one instant ---


def remembered(method: Callable[["Worker", int], Any]) -> Callable[["Worker", int], Any]:
    @wraps(method)
    def ask(self: "Worker", t: int) -> Any:
        key = (method.__name__, t)
        if key not in self.answers:
            self.answers[key] = method(self, t)
        return self.answers[key]

    return ask


class Worker:
    """Answers about one worker at any instant, each from the facts themselves."""

    def __init__(self, facts: Facts, worker: type_worker, settings: Settings) -> None:
        self.settings = settings
        self.states = sorted(facts.states.get(worker, set()), key=State.order)
        self.deaths = deaths(facts, worker)
        self.busy = facts.busy.get(worker, [])
        self.steps = facts.steps.get(worker, [])
        self.words = facts.words
        self.edges = sorted({state.at for state in self.states} | set(self.deaths))
        self.answers: dict[tuple[str, int], Any] = {}

    def changes(self) -> set[int]:
        carry = self.settings.carry_max
        own = set(self.edges) | {one.at for one in self.busy} | {one.at for one in self.steps}
        return own | {one.covers_from for one in self.busy} | {one.at + carry for one in self.busy}

    @remembered
    def phases(self, t: int) -> tuple[State, ...]:
        """Return the states with a phase of the life that goes on at `t`, in order; none outside a life."""
        told = [state for state in self.states if state.phase and state.at <= t]
        ends = [index for index, state in enumerate(told) if state.phase == "ended"]
        told = told[ends[-1] + 1 :] if ends else told
        died = max((death for death in self.deaths if death <= t), default=-1)
        return tuple(state for state in told if state.at > died)

    def last(self, name: str, t: int, otherwise: Any) -> Any:
        said = [getattr(state, name) for state in self.states if state.at <= t]
        return next((value for value in reversed(said) if value is not None), otherwise)

    @remembered
    def attempt(self, t: int) -> int:
        return int(self.last("attempt", t, 1))

    @remembered
    def gpus(self, t: int) -> int:
        """Return the GPUs that count at `t`: 0 outside of a life."""
        return int(self.last("gpus_milli", t, 0)) if self.phases(t) else 0

    @remembered
    def running(self, t: int) -> bool:
        return bool(self.gpus(t) > 0 and self.phases(t)[-1].phase == "running")

    def flagged(self, t: int) -> bool:
        said = [state for state in self.states if state.at <= t and (state.phase or state.stalled is not None)]
        return bool(said and said[-1].stalled)

    def placed(self, t: int) -> bool:
        return any(state.phase in HELD for state in self.phases(t))

    def cause(self, t: int) -> str:
        """Return why the wait at `t` waits, "" = other."""
        phases = list(self.phases(t))
        while phases:
            wait = phases.pop()
            if wait.reason or not phases:
                return wait.reason
            before = phases[-1]
            if before.phase in ("failed", "lost"):
                return "failure"
            if before.phase == "stopping":
                return before.reason
            if before.phase != "pending":
                return ""
        raise AssertionError("asked the cause of no wait")

    @remembered
    def stay(self, t: int) -> tuple[int, int] | None:
        """Return the unbroken stay in running, of one attempt and with GPUs, around `t`."""
        if not self.running(t):
            return None
        starts = [edge for edge in self.edges if edge <= t]
        first = starts.pop()
        while starts and self.running(starts[-1]) and self.attempt(starts[-1]) == self.attempt(t):
            first = starts.pop()
        for edge in self.edges:
            if edge > t and not (self.running(edge) and self.attempt(edge) == self.attempt(t)):
                return first, edge
        return first, FOREVER

    def last_busy(self, t: int) -> bool | None:
        said = [one.busy for one in self.busy if one.at <= t]
        return said[-1] if said else None

    @remembered
    def stalled_by_steps(self, t: int) -> bool:
        stay, progress = self.stay(t), [one.at for one in self._progress() if one.at <= t]
        if stay is None or not progress:
            return False
        ahead = min((one.at for one in self._progress() if one.at > t), default=FOREVER)
        proofs = [one.at for one in self.steps if progress[-1] < one.at < ahead and self._late(one, progress[-1])]
        return bool(proofs) and stay[0] <= progress[-1] and proofs[0] < stay[1]

    def _progress(self) -> list[Step]:
        """A sample within a phase, and the first after it, show that no progress was to be expected before."""
        pairs = zip([None, *self.steps], self.steps, strict=False)
        return [one for before, one in pairs if before is None or before.step != one.step or before.doing or one.doing]

    def _late(self, sample: Step, progress: int) -> bool:
        told = [one.step_ms for one in self.steps if one.at <= sample.at and one.step_ms is not None]
        return sample.at - progress > max([self.settings.stall_after] + [5 * newest for newest in told[-1:]])

    def told(self, t: int) -> bool:
        """Whether the worker has told a step in the stay around `t`."""
        stay = self.stay(t)
        if stay is None:
            return False
        over_the_start = any(
            before.at < stay[0] <= after.at and after.at - before.at <= self.settings.carry_max
            for before, after in itertools.pairwise(self.steps)
        )
        return over_the_start or any(stay[0] <= one.at <= t for one in self.steps)


# --- all workers of a run at one instant, and the sums ---


class Ledger:
    """The ledger of all deliveries, for the time before `until`."""

    def __init__(self, deliveries: Iterable[type_batch], settings: Settings, until: int) -> None:
        self.settings, self.until = settings, until
        self.facts = read(deliveries, settings)
        self.workers = {name: Worker(self.facts, name, settings) for name in self.facts.workers()}

    def cells(self) -> dict[type_cell, dict[str, int]]:
        """Return the lines that are not zero of every cell that has one."""
        cells: dict[type_cell, dict[str, int]] = {}
        for (run, _), segments in self.timelines().items():
            for one in segments:
                amount = one.gpus_milli * (one.end - one.start)
                cell = cells.setdefault((one.start // HOUR * HOUR, run, one.machine, one.pool), {})
                lines = [one.category]
                if one.unobserved:
                    lines += ["unobserved"] + ["unobserved_productive"] * (one.category == "productive")
                for line in lines:
                    cell[line] = cell.get(line, 0) + amount
        return cells

    def timelines(self) -> dict[type_worker, list[Segment]]:
        """Return each worker's counted stretches, cut at every change of its run and at every hour."""
        found: dict[type_worker, list[Segment]] = {name: [] for name in self.workers}
        for run in sorted({run for run, _ in self.workers}):
            members = [name for name in self.workers if name[0] == run]
            edges = self._edges(members)
            for start, end in itertools.pairwise(edges):
                for name in members:
                    if self.workers[name].gpus(start):
                        found[name].append(self._segment(name, members, start, end))
        return found

    def _edges(self, members: list[type_worker]) -> list[int]:
        edges = {self.until}
        for name in members:
            edges |= self.workers[name].changes()
        for words in self.facts.words.values():
            edges |= {edge for word in words for edge in word}
        first = min(edges) // HOUR * HOUR
        edges |= set(range(first, self.until, HOUR)) | {rule.since for rule in self.settings.rules}
        return sorted(edge for edge in edges if edge <= self.until)

    def _segment(self, name: type_worker, members: list[type_worker], start: int, end: int) -> Segment:
        worker = self.workers[name]
        wait = worker.phases(start)[-1].phase == "pending"
        return Segment(
            start,
            end,
            self.category(name, members, start),
            not self.covered(worker, start),
            worker.gpus(start),
            UNPLACED if wait else worker.last("machine", start, UNKNOWN),
            worker.last("pool", start, NO_POOL),
        )

    def category(self, name: type_worker, members: list[type_worker], t: int) -> str:
        """Return the first row of the table that holds for the worker at `t`."""
        worker = self.workers[name]
        now = worker.phases(t)[-1]
        if now.phase == "pending":
            return self._wait(worker, t)
        if now.phase == "starting":
            return "starting" if worker.attempt(t) == 1 else "restart"
        if now.phase == "running":
            if worker.flagged(t) or worker.stalled_by_steps(t) or self.gang_stalled(worker, members, t):
                return "stalled"
            return {True: "productive", False: "idle", None: self.rule(t).unmeasured_as}[worker.last_busy(t)]
        if now.phase == "stopping":
            stalled = now.reason == "stalled" or worker.flagged(t)
            return "stalled" if stalled else _by_reason(now.reason, "productive")
        return "failure"

    def _wait(self, worker: Worker, t: int) -> str:
        if not worker.placed(t):
            return "waiting"
        cause = worker.cause(t)
        return "stalled" if cause == "stalled" else _by_reason(cause, "waiting")

    def gang_stalled(self, worker: Worker, members: list[type_worker], t: int) -> bool:
        told = [self.workers[name] for name in members if self.workers[name].told(t)]
        return bool(told) and not worker.told(t) and all(one.stalled_by_steps(t) for one in told)

    def rule(self, t: int) -> Rule:
        in_force = [rule for rule in sorted(self.settings.rules) if rule.since <= t]
        return in_force[-1] if in_force else Rule(0)

    def covered(self, worker: Worker, t: int) -> bool:
        now = worker.phases(t)[-1]
        if now.phase == "running" and self.rule(t).readings_expected:
            return any(one.covers_from <= t < one.at + self.settings.carry_max for one in worker.busy)
        return any(start <= t < end for start, end in self.facts.words.get(now.source, ()))


def _by_reason(reason: str, otherwise: str) -> str:
    if reason in FAILURES:
        return "failure"
    return "preemption" if reason in PREEMPTIONS else otherwise


def cells(deliveries: Iterable[type_batch], settings: Settings, until: int) -> dict[type_cell, dict[str, int]]:
    """Return {(hour, run uid, machine, pool): {line: GPU-microseconds}} of the time before `until`."""
    return Ledger(deliveries, settings, until).cells()


def timeline(segments: Iterable[Segment]) -> list[Segment]:
    """Return segments joined where nothing differs, to read and to compare."""
    joined: list[Segment] = []
    for one in segments:
        goes_on = joined and joined[-1].end == one.start and joined[-1][2:] == one[2:]
        joined.append(one._replace(start=joined.pop().start) if goes_on else one)
    return joined


def asked(deliveries: Iterable[type_batch], settings: Settings, until: int) -> dict[type_worker, int]:
    """Return each worker's GPUs over its counted life, by lives and steps of GPUs and no category at all."""
    facts = read(deliveries, settings)
    return {
        worker: sum(
            gpus * max(0, min(death, upper) - max(birth, lower))
            for birth, death in _lives(facts, worker, until)
            for lower, upper, gpus in _widths(facts.states[worker], until)
        )
        for worker in facts.workers()
    }


def _lives(facts: Facts, worker: type_worker, until: int) -> list[tuple[int, int]]:
    """Pair every birth with the first end after it: states and deaths in one row of (at, rank) marks."""
    phases = [state for state in facts.states[worker] if state.phase]
    marks: list[tuple[tuple[Any, ...], bool]] = [(one.order(), one.phase != "ended") for one in phases]
    marks += [((death, FOREVER), False) for death in deaths(facts, worker)]
    marks = [mark for mark in marks if mark[0][0] < until]
    lives, born = [], -1
    for order, alive in [*sorted(marks), ((until,), False)]:
        if alive and born < 0:
            born = order[0]
        elif not alive and born >= 0:
            lives.append((born, order[0]))
            born = -1
    return lives


def _widths(states: set[State], until: int) -> list[tuple[int, int, int]]:
    """Return (from, to, milli-GPUs): what an instant names last holds until the next that names any."""
    naming = [state for state in states if state.gpus_milli is not None]
    instants = sorted({state.at for state in naming})
    return [
        (at, after, max((one for one in naming if one.at == at), key=State.order).gpus_milli or 0)
        for at, after in itertools.pairwise([*instants, until])
    ]
