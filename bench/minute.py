"""One minute's work and the closing of an hour, beside a bare scan and beside the design that adds every minute.

python -m bench.minute [--sizes 1000 10000 100000] [--million] [--minutes 7] [--closes 5]
"""

import argparse
import time

from bench.costs import Measured, median
from bench.ground import ground, machine, milliseconds, table

SIZES = (1_000, 10_000, 100_000)
MILLION = 1_000_000
HOUR = 3_600_000
HEAD = (
    "workers",
    "bare scan",
    "minute",
    "1 % silent",
    "1 % changed",
    "look",
    "close",
    "adding: minute",
    "adding: 1 % changed",
)
COLUMNS = ("scan", "idle", "minute", "changes", "look", "close", "each", "each_changes")


def main() -> None:
    """Measure all sizes on one Postgres and print medians in ms, and how many bare scans they are."""
    parser = argparse.ArgumentParser(prog="python -m bench.minute", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="workers of the fleets")
    parser.add_argument("--million", action="store_true", help="a fleet of a million, too: minutes long")
    parser.add_argument("--minutes", type=int, default=7, help="minutes that pass over each fleet, at most 50")
    parser.add_argument("--closes", type=int, default=5, help="hours that are closed")
    parser.add_argument("--keep", help="folder for Postgres that is kept")
    options = parser.parse_args()
    sizes = (*options.sizes, MILLION) if options.million else options.sizes
    with ground(options.keep):
        from bench.passing import measure

        print(machine(), flush=True)
        found = {}
        for size in sizes:
            hour = int(time.time() * 1000) // HOUR * HOUR
            found[size] = measure(size, hour, options.minutes, options.closes)
            print(f"{size:,} workers measured", flush=True)
    for place, what in enumerate(("by the clock", "of CPU, ours and Postgres'")):
        print(f"\nMedian ms {what}, in brackets how many bare scans that is:\n")
        print(table(HEAD, [row(size, measured, place) for size, measured in found.items()]))


def row(size: int, measured: Measured, place: int) -> tuple[str, ...]:
    """Return a line of the table of the figure at `place` of a cost."""
    medians = {name: median(measured[name])[place] for name in COLUMNS}
    bare = medians.pop("scan")
    return (
        f"{size:,}", milliseconds(bare), *(f"{milliseconds(value)} ({value / bare:.1f})" for value in medians.values())
    )  # fmt: skip


if __name__ == "__main__":
    main()
