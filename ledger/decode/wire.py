"""The shape of observations on the wire, as msgspec types: what a body may hold before any value is judged."""

from msgspec import UNSET, Struct, UnsetType, field

Text = str | UnsetType | None
Number = int | float | UnsetType | None
Sample = int | float | str | UnsetType | None  # exporters write blanks as text

LISTS = ("machines", "runs", "workers", "readings")


class Machine(Struct, forbid_unknown_fields=True, gc=False):
    """A machine of the cluster: `gpus` is its capacity."""

    name: str
    pool: Text = UNSET
    gpus: Number = UNSET
    ready: bool | UnsetType | None = UNSET


class Condition(Struct, forbid_unknown_fields=True, gc=False):
    """What its source says is, or was, true of a run: a label that moves no time."""

    type: str
    status: Text = UNSET
    reason: Text = UNSET
    message: Text = UNSET
    at: Text = UNSET


class Run(Struct, forbid_unknown_fields=True, gc=False):
    """A submitted job and its labels."""

    uid: str
    workspace: Text = UNSET
    name: Text = UNSET
    kind: Text = UNSET
    user: Text = UNSET
    submitted_at: Text = UNSET
    ended_at: Text = UNSET
    outcome: Text = UNSET
    min_goodput: Number = UNSET
    conditions: list[Condition] | UnsetType | None = UNSET
    log_profile: Text = UNSET


class Worker(Struct, forbid_unknown_fields=True, gc=False):
    """A state: what became true of a worker at an instant."""

    run: str
    worker: str
    at: str
    phase: Text = UNSET
    reason: Text = UNSET
    attempt: int | UnsetType | None = UNSET
    gpus: Number = UNSET
    machine: Text = UNSET
    pool: Text = UNSET
    stalled: bool | UnsetType | None = UNSET
    pod: Text = UNSET
    devices: list[str] | UnsetType | None = UNSET


class Reading(Struct, forbid_unknown_fields=True, gc=False):
    """A sample of a worker: how busy its GPUs are, which step it has reached."""

    run: str
    worker: str
    at: str
    since: Text = field(default=UNSET, name="from")
    gpu_busy: Sample = UNSET
    step: Sample = UNSET
    step_seconds: Sample = UNSET
    doing: Text = UNSET


Item = Machine | Run | Worker | Reading


class Head(Struct, forbid_unknown_fields=True):
    """A batch without its lists. `named`: workers by their run that a complete list names without a state."""

    source: str
    sent_at: str
    seen_from: Text = UNSET
    complete: bool | UnsetType | None = UNSET
    named: dict[str, list[str]] | UnsetType | None = UNSET


class Body(Head, forbid_unknown_fields=True):
    """A batch as one JSON object."""

    machines: list[Machine] | UnsetType | None = UNSET
    runs: list[Run] | UnsetType | None = UNSET
    workers: list[Worker] | UnsetType | None = UNSET
    readings: list[Reading] | UnsetType | None = UNSET


class MachineLine(Machine, tag_field="list", tag="machines", gc=False):
    """A machine as a line of NDJSON."""


class RunLine(Run, tag_field="list", tag="runs", gc=False):
    """A run as a line of NDJSON."""


class WorkerLine(Worker, tag_field="list", tag="workers", gc=False):
    """A state as a line of NDJSON."""


class ReadingLine(Reading, tag_field="list", tag="readings", gc=False):
    """A sample as a line of NDJSON."""


Line = MachineLine | RunLine | WorkerLine | ReadingLine
