"""The sources of a cluster and the workers that hold its GPUs, in JSON."""

from typing import Any

from ledger.decode.values import iso
from ledger.queries import HeldWorker, SourceNow
from ledger.writing.figures import thousandths


def source(of: SourceNow) -> dict[str, Any]:
    """Return a source; null for what does not apply."""
    return {
        "source": of.source,
        "word_at": None if of.word_at is None else iso(of.word_at),
        "live_workers": of.live,
        "stale_since": None if of.stale_since is None else iso(of.stale_since),
        "vanished_since": None if of.held_since is None else iso(of.held_since),
    }


def held_worker(of: HeldWorker) -> dict[str, Any]:
    """Return a worker, and where the readings of its GPUs are found."""
    return {
        "workspace": of.workspace,
        "run": of.run,
        "name": of.run_name,
        "worker": of.worker,
        "machine": of.machine,
        "pool": of.pool,
        "gpus": thousandths(of.gpus_milli),
        "pod": of.pod or None,
        "devices": of.devices.split(",") if of.devices else [],
    }
