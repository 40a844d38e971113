"""Rows a second through the real endpoint, and beside it serializers with update_or_create on the same bodies.

python -m bench.ingest [--workers 10000] [--minutes 10] [--batch 10000]
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench import bodies
from bench.costs import postgres_cpu
from bench.ground import ground, machine, table
from bench.serving import Web, serving

HEAD = ("what", "rows", "rows/s", "web µs/row", "Postgres µs/row", "rows/s of one core")
USUAL_WORKERS = 400
STATES_MINUTES = 3
ANNOUNCED_MAX = 10_000  # a first body names runs, too
CLUSTER = "fleet"
Minutes = Callable[[int, int, float, int], Iterator[bodies.Body]]


@dataclass
class Taken:
    """What a number of rows took, in seconds: by the clock, and of CPU by the web process and by Postgres."""

    rows: int = 0
    wall: float = 0.0
    web: float = 0.0
    postgres: float = 0.0

    @property
    def speed(self) -> float:
        """Rows a second."""
        return self.rows / self.wall

    @property
    def efficiency(self) -> float:
        """Rows for each second of CPU, of web and Postgres together: what one core takes a second."""
        return self.rows / (self.web + self.postgres)

    def line(self, what: str) -> tuple[str, ...]:
        """Return it as a line of the table."""
        web, postgres = (seconds / self.rows * 1e6 for seconds in (self.web, self.postgres))
        return (
            what,
            f"{self.rows:,}",
            f"{self.speed:,.0f}",
            f"{web:.1f}",
            f"{postgres:.1f}",
            f"{self.efficiency:,.0f}",
        )


def main() -> None:
    """Measure both mixes through the endpoint, then the usual way on a part of the fleet."""
    parser = argparse.ArgumentParser(prog="python -m bench.ingest", description=__doc__)
    parser.add_argument("--workers", type=int, default=10_000, help="workers of the fleet")
    parser.add_argument("--minutes", type=int, default=10, help="minutes of readings that are sent")
    parser.add_argument("--batch", type=int, default=10_000, help="workers in a body, at most 20,000")
    parser.add_argument("--keep", help="folder for Postgres that is kept")
    options = parser.parse_args()
    with ground(options.keep) as state:
        print(machine(), flush=True)
        token = make_tenant()
        with serving(CLUSTER, token, state / "web.log") as web:
            told = announce(web, options.workers, options.batch)
            mixed = through(web, bodies.minute, options.minutes, options.workers, options.batch)
            states = through(web, bodies.states_alone, STATES_MINUTES, options.workers, options.batch)
        usual = the_usual_way(options.minutes)
        lines = [told.line("a new fleet"), mixed.line("readings, 1 % states"), states.line("states alone")]
        print(table(HEAD, [*lines, usual.line("serializers, update_or_create")]))
        print(
            f"\nOf the usual way's rows a second: {mixed.speed / usual.speed:.0f} times as many by the clock, ", end=""
        )
        print(f"{mixed.efficiency / usual.efficiency:.0f} times as many for the same CPU.")


def make_tenant() -> str:
    """Make an organization with a cluster and return a token that may send."""
    from ledger.models import Cluster, Organization, Token

    organization, _ = Organization.objects.get_or_create(name="bench")
    Cluster.objects.get_or_create(organization=organization, name=CLUSTER)
    return Token.issue(organization, None, ["ingest"])[1]


def announce(web: Web, workers: int, batch: int) -> Taken:
    """Tell the whole fleet for the first time."""
    cost = Taken()
    send(web, cost, list(bodies.first(workers, time.time(), min(batch, ANNOUNCED_MAX))))
    return cost


def through(web: Web, minutes: Minutes, count: int, workers: int, batch: int) -> Taken:
    """Send minutes one after the other, faster than they pass, and return what all but the first took.

    The categorizer runs before each, as it does every minute.
    """
    from ledger.categorizer import categorize
    from ledger.models import Cluster

    cost = Taken()
    for number in range(1, count + 2):
        categorize(Cluster.objects.get(name=CLUSTER))
        send(web, cost if number > 1 else Taken(), list(minutes(number, workers, time.time(), batch)))
    return cost


def send(web: Web, cost: Taken, parts: list[bodies.Body]) -> None:
    """Send bodies that are ready and add what they took; every row must have been accepted."""
    web_before, postgres_before, began = web.cpu(), postgres_cpu(), time.perf_counter()
    answers = [web.post(part.content) for part in parts]
    cost.wall += time.perf_counter() - began
    cost.web += web.cpu() - web_before
    cost.postgres += postgres_cpu() - postgres_before
    cost.rows += sum(part.items for part in parts)
    for part, answer in zip(parts, answers, strict=True):
        receipt = json.loads(answer)
        assert receipt["accepted"] >= part.items, receipt
        assert not receipt["refused"], receipt["refused"][:3]


def the_usual_way(count: int) -> Taken:
    """Take the same minutes of a smaller fleet in this process, without a network."""
    from bench import drf

    drf.make_tables()
    for part in bodies.first(USUAL_WORKERS, time.time(), USUAL_WORKERS):
        drf.take(part.content)
    cost = Taken()
    for number in range(1, count + 1):
        parts = list(bodies.minute(number, USUAL_WORKERS, time.time(), USUAL_WORKERS))
        postgres_before, began, ours = postgres_cpu(), time.perf_counter(), time.process_time()
        taken = sum(drf.take(part.content) for part in parts)
        if number > 1:
            cost.rows += taken
            cost.wall += time.perf_counter() - began
            cost.web += time.process_time() - ours
            cost.postgres += postgres_cpu() - postgres_before
    return cost


if __name__ == "__main__":
    main()
