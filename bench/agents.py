"""What an agent costs: CPU and spool of one hour without a server, for a cluster of some size; then its delivery.

    .venv/bin/python -m bench.agents [--workers 5000] [--changes 50]

An hour is told as fast as it goes: each 30 s a reading of each worker, each 5 minutes a complete list, and so many
changes a second, in one put a second. It says the bytes on disk, the CPU of taking it in and of sending it to a server
that takes all, and the memory at most.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from astra.collect.delivery import Delivery
from astra.collect.items import Item, Items, instant_text
from astra.collect.outbox import Outbox
from astra.collect.spool import Spool

BEGAN = datetime(2026, 10, 1, 12, tzinfo=UTC)


def state(number: int, at: datetime, phase: str) -> Item:
    of = {"run": f"8c1f-{number // 8:06}", "worker": f"worker-{number % 8}", "at": instant_text(at), "phase": phase}
    return of | {"attempt": 1, "gpus": 8, "machine": f"gpu-{number:05}", "pool": "h100", "pod": f"vision/llm-{number}"}


def reading(number: int, at: datetime) -> Item:
    of = {"run": f"8c1f-{number // 8:06}", "worker": f"worker-{number % 8}", "at": instant_text(at)}
    return of | {"gpu_busy": (number * 7919 + at.minute * 31 + at.second) % 100_000 / 1000}


def tell(outbox: Outbox, workers: int, changes: int) -> None:
    """Put an hour."""
    runs: tuple[Item, ...] = tuple(
        {"uid": f"8c1f-{k:06}", "workspace": "vision", "name": f"llm-{k}", "kind": "PyTorchJob"}
        for k in range(workers // 8 + 1)
    )
    listed = tuple(state(number, BEGAN, "running") for number in range(workers))
    for second in range(3600):
        at = BEGAN + timedelta(seconds=second)
        changed = [(second * changes + k) % workers for k in range(changes)]
        mentioned = tuple(runs[number] for number in sorted({number // 8 for number in changed}))
        outbox.put(Items(at, runs=mentioned, workers=tuple(state(number, at, "running") for number in changed)))
        if second % 30 == 0:
            outbox.put(Items(at, readings=tuple(reading(number, at) for number in range(workers))))
        if second % 300 == 0:
            outbox.put(Items(at, runs=runs, workers=listed, complete=True))
        outbox._store()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--workers", type=int, default=5_000)
    parser.add_argument("--changes", type=int, default=1, help="a second")
    asked = parser.parse_args()
    took = {"accepted": 0, "duplicate": 0, "late": 0, "refused": []}
    sent = [0]

    def take(request: httpx.Request) -> httpx.Response:
        sent[0] += len(request.content)
        return httpx.Response(202, json=took)

    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(Path(folder) / "spool")
        outbox = Outbox("kubernetes/east", spool, Delivery("http://server", "t", "east", httpx.MockTransport(take)))
        began = time.process_time()
        tell(outbox, asked.workers, asked.changes)
        stored = time.process_time() - began
        size = sum(file.stat().st_size for file in (Path(folder) / "spool").iterdir())
        held = spool.held()
        began = time.process_time()
        outbox.start()
        assert outbox.close(600)
        delivered = time.process_time() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{asked.workers} workers, {asked.changes} changes a second, one hour:")
        print(f"  on disk {size / 1e6:.1f} MB in {held.records} records ({held.size / 1e6:.1f} MB of bodies)")
        print(f"  taken in with {stored:.1f} s of CPU = {stored / 36:.2f} % of a core")
        print(f"  sent with {delivered:.1f} s of CPU in {outbox.told.batches} batches, {sent[0] / 1e6:.1f} MB")
        print(f"  memory at most {memory:.0f} MiB")
        spool.close()


if __name__ == "__main__":
    main()
