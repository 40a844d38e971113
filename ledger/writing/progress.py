"""How training goes, in JSON: input pipelines, and stragglers."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ledger.core.streams import Doing
from ledger.decode.values import iso
from ledger.queries import StragglingWorker, WorkerPipeline
from ledger.writing.figures import decimal, seconds, thousandths

Document = dict[str, Any]


def pipeline(workers: Sequence[WorkerPipeline], start: int, end: int) -> Document:
    """Return the pipelines of a run's workers; `slowest` is the first of those that made batches."""
    slowest = next((one.name for one in workers if one.batches), None)
    return {
        "start": iso(start), "end": iso(end), "slowest": slowest, "workers": [worker(one) for one in workers],
    }  # fmt: skip


def worker(of: WorkerPipeline) -> Document:
    """Return one worker; the ratio is absent when no time passed."""
    ratio = {"pipeline_goodput": decimal(Fraction(of.productive_us, of.wall_us))} if of.wall_us else {}
    return {
        "worker": of.name,
        "batches": of.batches,
        "wall_seconds": seconds(of.wall_us),
        "source_seconds": seconds(of.source_us),
        "transform_seconds": seconds(of.transform_us),
        "transfer_seconds": seconds(of.transfer_us),
        "productive_seconds": seconds(of.productive_us),
        "overhead_seconds": seconds(of.overhead_us),
        **ratio,
        "at": moment(of.at),
        "step": of.step,
        "step_at": moment(of.step_at),
        "step_seconds": None if of.step_ms is None else thousandths(of.step_ms),
        "doing": None if of.doing is Doing.NONE else of.doing.label,
    }


def straggler(of: StragglingWorker) -> Document:
    """Return a straggler: how much slower than its gang, how far behind, how many GPUs wait for it."""
    return {
        "workspace": of.workspace,
        "run": of.run,
        "uid": of.uid,
        "worker": of.worker,
        "machine": of.machine,
        "pool": of.pool,
        "since": iso(of.since),
        "step": of.step,
        "gpus": thousandths(of.gpus_milli),
        "step_seconds": thousandths(of.step_ms),
        "gang_step_seconds": thousandths(of.gang_ms),
        "slower": thousandths(of.slower_milli),
        "steps_behind": of.behind,
        "gang_gpus": thousandths(of.gang_milli),
        "gpus_waiting": thousandths(of.cost_milli),
    }


def moment(at: int | None) -> str | None:
    return None if at is None else iso(at)
