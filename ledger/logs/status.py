"""The status of a measurement: the formula, and every figure as a text with 6 decimals."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ledger.logs.layouts import EPOCH, MICROSECOND
from ledger.logs.quantities import fixed, seconds
from ledger.logs.terms import Attempt, Fold

NO_DATA, RUNNING, SUCCEEDED, FAILED = "NoDataCollected", "JobRunning", "JobSucceeded", "JobFailed"
NOT_FOUND = "LogProfileNotFound"
FORMULA = "result = (t_w − t_ch − t_rm − t_re − t_save) / (t_w − t_re)"
FAILURES = frozenset({"failed", "fail", "failure", "error", "oom", "out_of_memory", "node_fail", "boot_fail", "timeout",
                      "deadline", "lost", "aborted"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Terms:
    """The five terms, µs; `training` is None when no instant says when it began."""

    training: int | None
    lost: int
    reschedule: int
    resume: int
    saving: int

    @property
    def result(self) -> Fraction | None:
        """None when the time without reschedules is not more than 0."""
        if self.training is None or self.training - self.reschedule <= 0:
            return None
        productive = self.training - self.lost - self.resume - self.reschedule - self.saving
        return Fraction(productive, self.training - self.reschedule)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measurement at an instant: its terms, and the fold that they come from. `start`, `end` in µs."""

    fold: Fold
    terms: Terms
    start: int | None
    end: int | None

    @property
    def result(self) -> Fraction | None:
        return self.terms.result if self.fold.step_lines else None


def measure(fold: Fold, known: dict[int, Attempt], end: int | None, failed: bool = False) -> Measured:
    """Return what was measured up to `end`: now, or the run's own end."""
    last = fold.ended(failed, known)
    start = last.first_start if last.first_start is not None else last.first_step
    training = None if start is None or end is None else end - start
    terms = Terms(training, last.lost, last.rescheduled, last.resumed, last.saves.total)
    return Measured(last, terms, start, end)


def is_failed(outcome: str) -> bool:
    return outcome.strip().lower() in FAILURES


def status(measured: Measured, ended: bool, outcome: str = "") -> dict[str, Any]:
    """Return the status: steps and counts as integers, all else as texts; what was not seen is left out."""
    fold, terms = measured.fold, measured.terms
    skew = max(fold.skew, fold.saves.skew, -(terms.training or 0), 0)
    average = Fraction(fold.plain_time, fold.plain_steps * 1_000_000) if fold.plain_steps else None
    tflops = Fraction(fold.tflops, fold.tflops_steps * 1_000_000) if fold.tflops_steps else None
    bandwidth = fold.bandwidth or (0, None, None)
    figures: dict[str, Any] = {
        "result": None if measured.result is None else fixed(measured.result),
        "startTime": None if measured.start is None else rfc3339(measured.start),
        "completionTime": rfc3339(measured.end) if ended and measured.end is not None else None,
        "conditions": conditions(measured, ended, outcome),
        "currentStep": fold.current,
        "highestStep": fold.highest,
        "trainingTimeSec": None if terms.training is None else seconds(terms.training),
        "lostWorkTimeSec": seconds(terms.lost),
        "rescheduleTimeSec": seconds(terms.reschedule),
        "resumeTimeSec": seconds(terms.resume),
        "checkpointSaveTimeSec": seconds(terms.saving),
        "interruptionCount": fold.interruptions,
        "lastCheckpointStep": fold.saves.last,
        "avgStepTimeSec": None if average is None else fixed(average),
        "avgTFLOPSPerGPU": None if tflops is None else fixed(tflops),
        "algBandwidthGBps": None if bandwidth[1] is None else fixed(Fraction(bandwidth[1], 1_000_000)),
        "busBandwidthGBps": None if bandwidth[2] is None else fixed(Fraction(bandwidth[2], 1_000_000)),
        "networkTransport": fold.transport or None,
        "stepLines": fold.step_lines,
        "stepCount": fold.steps,
        "stepTimeSec": seconds(fold.step_time),
        "skewSec": seconds(skew),
    }
    return {name: value for name, value in figures.items() if value is not None}


def conditions(measured: Measured, ended: bool, outcome: str) -> list[dict[str, str]]:
    empty = measured.result is None and measured.fold.bandwidth is None
    if not ended:
        return [
            condition("Measuring", True, RUNNING, "all figures are provisional"),
            condition("Complete", False, RUNNING),
        ]
    reason = NO_DATA if empty else FAILED if is_failed(outcome) else SUCCEEDED
    why = "no line matched trainingStep" if not measured.fold.step_lines else "no line said when the training began"
    return [condition("Measuring", False, reason), condition("Complete", True, reason, why if empty else outcome)]


def condition(kind: str, is_true: bool, reason: str, message: str = "") -> dict[str, str]:
    return {"type": kind, "status": "True" if is_true else "False", "reason": reason, "message": message}


def rfc3339(at: int) -> str:
    """Return an instant in µs as RFC 3339 in UTC, its fraction as long as need be."""
    moment = EPOCH + at * MICROSECOND
    return moment.isoformat(timespec="microseconds" if at % 1_000 else "milliseconds").replace("+00:00", "Z")
