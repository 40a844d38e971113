"""What every shape of Slurm's output comes down to: one record of one job, an attempt of it."""

from __future__ import annotations

from dataclasses import dataclass, field

SECOND = 1000


class BadText(ValueError):
    """The output is not what it should be; the text is one sentence for a person."""


@dataclass(frozen=True)
class Job:
    """Which job: `name` as people write it ("4101", "4110_3", a hetjob by its first number), `part` of a hetjob."""

    name: str
    part: int | None = None


@dataclass(frozen=True)
class Record:
    """An attempt of a job as sacct or squeue tells it. Instants are ms, None: not told; GPUs are thousandths.

    `held` is for each of `nodes`. `elapsed` and `suspended` are seconds. `step` is when the first numbered step
    began. `restarts` counts the attempts before this one. `marks` are words of Slurm's beside the state.
    """

    job: Job
    number: int
    state: str
    submit: int | None = None
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    elapsed: int | None = None
    suspended: int | None = None
    nodes: tuple[str, ...] = ()
    width: int = 0
    held: tuple[int, ...] = ()
    asked: int = 0
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    reason: str = ""
    step: int | None = None
    steps: int | None = None
    restarts: int | None = None
    preempted: int | None = None
    resized: int | None = None
    switched: int | None = None
    marks: frozenset[str] = field(default_factory=frozenset)
    cluster: str = ""

    @property
    def lasted(self) -> int | None:
        """Return the ms that Slurm counted from Start to End, suspended time included; None: not told."""
        if not self.elapsed or self.suspended is None:
            return None
        return (self.elapsed + self.suspended) * SECOND

    @property
    def gpus(self) -> int:
        """Return what it holds or held in all."""
        return sum(self.held)

    @property
    def placed(self) -> bool:
        return bool(self.nodes) and self.start is not None
