"""python -m tests.simulation --seed N: replay one seed, or many, in memory or on a Postgres of its own."""

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.simulation.marks import MARKS
from tests.simulation.simulation import Simulation, WrongLedger


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many, from that one on")
    parser.add_argument("--store", choices=("memory", "postgres"), default="memory")
    parser.add_argument("--trace", action="store_true", help="say all that happens")
    options = parser.parse_args()
    with database() if options.store == "postgres" else nothing():
        return run(range(options.seed, options.seed + options.seeds), options.store, options.trace)


def run(seeds: range, store: str, trace: bool) -> int:
    """Run the seeds, say which fail and which faults none of them hit; return the exit code."""
    hit: Counter[str] = Counter()
    failed = 0
    for seed in seeds:
        try:
            with undone() if store == "postgres" else nothing():
                hit.update(Simulation(seed, store, print if trace else None).run())
        except WrongLedger as wrong:
            failed += 1
            print(f"seed {seed} {store}: {wrong}")
    for mark in sorted(MARKS):
        print(f"{hit[mark]:6} {mark}")
    print(f"{len(seeds) - failed} of {len(seeds)} seeds are right")
    return 1 if failed else 0


@contextmanager
def nothing() -> Iterator[None]:
    yield


@contextmanager
def undone() -> Iterator[None]:
    """As in a test: the seed's transactions are parts of one that leaves nothing."""
    from django.db import transaction

    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def database() -> Iterator[None]:
    """A Postgres of its own in a temporary folder, with an empty ledger."""
    with tempfile.TemporaryDirectory(prefix="goodput-simulation-") as folder:
        os.chmod(folder, 0o711)
        os.environ["GOODPUT_STATE"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
        import django
        from django.core.management import call_command

        django.setup()
        from goodput_site.embedded import use
        from goodput_site.places import places

        with use(places(), {"fsync": "off", "synchronous_commit": "off"}):
            call_command("migrate", verbosity=0)
            yield


if __name__ == "__main__":
    sys.exit(main())
