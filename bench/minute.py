"""One minute's work and the closing of an hour, beside a bare scan and beside the design that adds every minute.

python -m bench.minute [--sizes 1000 10000 100000] [--million] [--minutes 7]
"""

import argparse
import statistics
import time

from bench.ground import Measured, ground, machine, milliseconds, table

SIZES = (1_000, 10_000, 100_000)
MILLION = 1_000_000
HOUR = 3_600_000
HEAD = ("workers", "bare scan", "idle minute", "1 % silent", "1 % changed", "adding", "adding 1 % changed", "close")
COLUMNS = ("scan", "idle", "minute", "changes", "each", "each_changes", "close")


def main() -> None:
    """Measure all sizes on one Postgres and print medians in ms, and their ratio to the bare scan."""
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
        rows = []
        for size in sizes:
            hour = int(time.time() * 1000) // HOUR * HOUR
            rows.append(row(size, measure(size, hour, options.minutes, options.closes)))
            print(table(HEAD, rows[-1:]), flush=True)
        print(table(HEAD, rows))


def row(size: int, measured: Measured) -> tuple[str, ...]:
    """Return a line of the table: the median, and how many bare scans it is."""
    bare = statistics.median(measured["scan"])
    cells = []
    for name in COLUMNS:
        cell = milliseconds(measured[name])
        cells.append(cell if name == "scan" else f"{cell} ({statistics.median(measured[name]) / bare:.1f})")
    return (f"{size:,}", *cells)


if __name__ == "__main__":
    main()
