"""What a read of a run's log goodput costs once a window of new lines has come, however long the log was before.

    python -m bench.measurement [--steps 300000]

A log without line numbers, as pods have it, is taken in windows of 1,000 lines; then again and again a window of two
lines comes and the measurement is asked for. By the clock, the middle one of 20; `whole` is its first read of all.
"""

import argparse
from statistics import median
from time import perf_counter

from bench.ground import ground, machine, milliseconds

BEGIN, STEP_US, WINDOW, READS = 1_790_000_000_000_000, 5_000_000, 1_000, 20


def measure(steps: int) -> tuple[float, float]:
    """Return (the first read of the whole log, the middle one of those after a small window), seconds."""
    from ledger.measuring.begin import Wish, begin
    from ledger.models import Cluster, Organization, Run, Workspace

    organization = Organization.objects.create(name=f"acme-{steps}")
    workspace = Workspace.objects.create(organization=organization, name="vision")
    cluster = Cluster.objects.create(organization=organization, name="east")
    run = Run.objects.create(cluster=cluster, workspace=workspace, uid="llm", name="llm")
    begin(run.pk, Wish("maxtext"))
    for first in range(0, steps, WINDOW):
        take(run.pk, first, min(first + WINDOW, steps))
    whole = asked(run.pk)
    again = []
    for first in range(steps, steps + 2 * READS, 2):
        take(run.pk, first, first + 2)
        again.append(asked(run.pk))
    return whole, median(again)


def take(run: int, first: int, until: int) -> None:
    """Take a window with the steps [first, until)."""
    from ledger.logs.builtin import matcher
    from ledger.measuring.windows import Window, read_window, take_window

    window = Window(1, "worker-0", [line(step) for step in range(first, until)])
    take_window(run, window, read_window(matcher("maxtext"), window))


def line(step: int) -> bytes:
    from ledger.logs.status import rfc3339

    at = BEGIN + step * STEP_US
    return f"{rfc3339(at)} completed step: {step}, seconds: 5.0, TFLOP/s/device: 130.{step % 10}, loss: 3.1".encode()


def asked(run: int) -> float:
    """Return how long a read takes, seconds."""
    from ledger.measuring.answers import answer

    began = perf_counter()
    assert answer(run, BEGIN // 1_000) is not None
    return perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300_000)
    steps = parser.parse_args().steps
    with ground():
        print(f"{machine()}\n\nread of a log of …, ms\n\n| steps | whole | after a window |\n| ---: | ---: | ---: |")
        for size in (steps // 100, steps // 10, steps):
            whole, again = measure(size)
            print(f"| {size:,} | {milliseconds(whole)} | {milliseconds(again)} |", flush=True)


if __name__ == "__main__":
    main()
