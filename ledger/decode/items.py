"""From items of the right shape to facts with the right values, or to refusals that name the field."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ledger.batches import Condition, MachineItem, ReadingItem, Refusal, RunItem, WorkerItem
from ledger.core.categories import REASONS, Phase
from ledger.core.streams import Doing
from ledger.decode import values, wire
from ledger.decode.body import Broken

_PHASES = {phase.label: phase for phase in Phase if phase is not Phase.NONE}
_REASONS = frozenset(REASONS)
_DOINGS = {doing.label: doing for doing in Doing if doing}


class BadValue(Exception):
    """A value that its field does not take."""

    def __init__(self, field: str, error: str) -> None:
        super().__init__(field, error)
        self.field = field
        self.error = error


class Names(dict[str, str]):
    """Names of one batch in NFC, each judged once. Raises ValueError."""

    def __missing__(self, text: str) -> str:
        self[text] = found = values.name(text)
        return found

    def optional(self, text: wire.Text) -> str | None:
        """Return the name; None for null, for an empty text, and when left out."""
        return self[text] if text else None


class Instants(dict[str, int]):
    """Instants of one batch in ms, each judged once. Raises ValueError."""

    def __missing__(self, text: str) -> int:
        self[text] = found = values.instant(text)
        return found

    def optional(self, text: wire.Text) -> int | None:
        """Return the instant; None for null and when left out."""
        return None if text is UNSET or text is None else self[text]


class Judge:
    """Judges the items of one batch; remembers the pools that its `machines` give."""

    def __init__(self) -> None:
        self.names = Names()
        self.instants = Instants()
        self.pools: dict[str, str] = {}

    def machine(self, index: int, item: wire.Machine) -> MachineItem:
        """Raises BadValue."""
        field = "name"
        try:
            name = self.names[item.name]
            field = "pool"
            pool = self.names.optional(item.pool)
            field = "gpus"
            gpus_milli = None if item.gpus is UNSET or item.gpus is None else values.gpus(item.gpus)
        except ValueError as error:
            raise BadValue(field, str(error)) from None
        if pool is not None:
            self.pools[name] = pool
        return MachineItem(index, name, pool, gpus_milli, None if item.ready is UNSET else item.ready)

    def run(self, index: int, item: wire.Run) -> RunItem:
        """Raises BadValue."""
        field = "uid"
        try:
            uid = self.names[item.uid]
            field = "workspace"
            workspace = self.names.optional(item.workspace)
            field = "name"
            name = self.names.optional(item.name)
            field = "kind"
            kind = self.names.optional(item.kind)
            field = "user"
            user = self.names.optional(item.user)
            field = "submitted_at"
            submitted_at = self.instants.optional(item.submitted_at)
            field = "ended_at"
            ended_at = self.instants.optional(item.ended_at)
            field = "outcome"
            outcome = self.names.optional(item.outcome)
            field = "min_goodput"
            least = None if item.min_goodput is UNSET or item.min_goodput is None else values.ratio(item.min_goodput)
            field = "conditions"
            conditions = self.conditions(item.conditions)
            field = "log_profile"
            profile = self.names.optional(item.log_profile)
        except ValueError as error:
            raise BadValue(field, str(error)) from None
        return RunItem(
            index, uid, workspace, name, kind, user, submitted_at, ended_at, outcome, least, conditions, profile
        )  # fmt: skip

    def conditions(self, said: list[wire.Condition] | UnsetType | None) -> tuple[Condition, ...] | None:
        """Return a run's conditions; None when nothing was said of them. Raises ValueError."""
        if said is UNSET or said is None:
            return None
        values.few(len(said), values.CONDITIONS_MAX, "conditions")
        return tuple(
            Condition(
                self.names[one.type],
                self.names.optional(one.status) or "",
                self.names.optional(one.reason) or "",
                values.message(one.message or ""),
                self.instants.optional(one.at),
            )
            for one in said
        )

    def worker(self, index: int, item: wire.Worker) -> WorkerItem:
        """Raises BadValue."""
        field = "run"
        try:
            run = self.names[item.run]
            field = "worker"
            worker = self.names[item.worker]
            field = "at"
            at = self.instants[item.at]
            field = "phase"
            phase = phase_of(item.phase)
            field = "reason"
            reason = reason_of(item.reason, phase)
            field = "attempt"
            attempt = None if item.attempt is UNSET or item.attempt is None else values.attempt(item.attempt)
            field = "gpus"
            gpus_milli = None if item.gpus is UNSET or item.gpus is None else values.gpus(item.gpus)
            field = "machine"
            machine = self.names.optional(item.machine)
            field = "pool"
            pool = self.names.optional(item.pool)
            field = "pod"
            pod = None if item.pod is UNSET or item.pod is None else values.pod(item.pod)
            field = "devices"
            devices = None if item.devices is UNSET or item.devices is None else values.devices(item.devices)
        except ValueError as error:
            raise BadValue(field, str(error)) from None
        if machine is not None and pool is None:
            pool = self.pools.get(machine, "")
        stalled = None if item.stalled is UNSET else item.stalled
        return WorkerItem(
            index, run, worker, at, phase, reason, attempt, gpus_milli, machine, pool, stalled, pod, devices
        )

    def reading(self, index: int, item: wire.Reading) -> ReadingItem:
        """Raises BadValue."""
        field = "run"
        try:
            run = self.names[item.run]
            field = "worker"
            worker = self.names[item.worker]
            field = "at"
            at = self.instants[item.at]
            field = "from"
            since = self.instants.optional(item.since)
            values.ordered(since, at, "at")
            field = "gpu_busy"
            busy = values.busy(item.gpu_busy)
            field = "step"
            step = None if (number := values.number(item.step)) is None else values.step(number)
            field = "step_seconds"
            step_ms = None if (number := values.number(item.step_seconds)) is None else values.step_ms(number)
            values.belongs(step_ms, step, "a step")
            field = "doing"
            doing = doing_of(item.doing) if item.doing else Doing.NONE
            values.belongs(doing or None, step, "a step")
        except ValueError as error:
            raise BadValue(field, str(error)) from None
        return ReadingItem(index, run, worker, at, since, busy, step, step_ms, doing)

    def named(self, item: wire.Worker | Broken) -> tuple[str, str] | None:
        """Return the run and the worker that a refused item names, None when it names none."""
        if isinstance(item, Broken):
            run, worker = (item.raw.get("run"), item.raw.get("worker")) if isinstance(item.raw, dict) else ("", "")
        else:
            run, worker = item.run, item.worker
        if not isinstance(run, str) or not isinstance(worker, str):
            return None
        try:
            return self.names[run], self.names[worker]
        except ValueError:
            return None


def phase_of(text: wire.Text) -> Phase:
    """Return the phase; NONE for null, for an empty text, and when left out. Raises ValueError."""
    if not text:
        return Phase.NONE
    phase = _PHASES.get(text)
    if phase is None:
        raise ValueError("must be one of " + ", ".join(_PHASES))
    return phase


def doing_of(text: wire.Text) -> Doing:
    """Return what goes on instead of steps. Raises ValueError."""
    doing = _DOINGS.get(text) if isinstance(text, str) else None
    if doing is None:
        raise ValueError("must be one of " + ", ".join(_DOINGS))
    return doing


def reason_of(text: wire.Text, phase: Phase) -> str:
    """Return the reason; "" for null, for an empty text, and when left out. Raises ValueError."""
    if not text:
        return ""
    if text not in _REASONS:
        raise ValueError("must be one of " + ", ".join(REASONS))
    if phase is Phase.NONE:
        raise ValueError("needs a phase")
    return text


def refusal(list_name: str, index: int, item: wire.Item | Broken, fault: BadValue | Broken) -> Refusal:
    """Return the refusal of an item, with the item as it came."""
    raw: Any = item.raw if isinstance(item, Broken) else msgspec.to_builtins(item)
    if isinstance(item, wire.MachineLine | wire.RunLine | wire.WorkerLine | wire.ReadingLine):
        del raw["list"]
    return Refusal(list_name, index, fault.field, fault.error, raw)
