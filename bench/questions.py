"""What questions of the ledger cost, beside DuckDB and chDB with the same hourly rows.

python -m bench.questions [--full | --machines N] [--days 400] [--times 7] [--keep FOLDER]

The two need `.venv/bin/pip install duckdb chdb`; nothing else of the project does.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.ground import ground, machine, milliseconds, table
from bench.wished import wished

BY = ("workspace", "pool", "run", "machine", "user")
WANTED = {"workspace": 0.25, "pool": 0.25, "run": 1.0, "machine": 1.0}
HEAD = ("question", "ledger ms", "DuckDB ms", "chDB ms", "× the faster", "wanted", "")


class Asked(NamedTuple):
    """A question by its name, how each answers it, and how many times the faster peer it may take (None: no wish)."""

    name: str
    ours: Callable[[], Any]
    peers: tuple[Callable[[], Any], ...]
    wanted: float | None


def main() -> None:
    """Make or find the past, load the others, ask all questions of all and print the table."""
    often = "how often each question is asked, after once to warm up"
    options = wished("questions", __doc__, 7, often, "Postgres and the others")
    with ground(options.keep) as state:
        from bench import past

        began = time.perf_counter()
        made = past.found() or past.make(options.machines, options.days)
        took = time.perf_counter() - began
        print(machine())
        print(f"{made.cells:,} closed cells in {made.days} days, made in {took:.0f} s", flush=True)
        peers = loaded(state)
        agree(made, peers)
        rows = [row(asked, options.times) for asked in questions(made, peers)]
        print("\nMedian ms by the clock:\n")
        print(table(HEAD, rows))
        print(scraped(made, options.times))


def loaded(state: Path) -> list[Any]:
    """Return the peers, with the hours in them."""
    from bench.peers import PEERS

    is_new = not (state / "hours.duckdb").exists()
    peers = [peer(state) for peer in PEERS]
    for peer in peers:
        if is_new:
            peer.load()
        else:
            peer.open()
    return peers


def agree(made: Any, peers: list[Any]) -> None:
    """Refuse figures of stores that do not hold the same hours."""
    from ledger import queries
    from ledger.core.windows import DAY, Window

    for days in (7, made.days):
        window = Window(made.open_hour - days * DAY, made.open_hour)
        for by in BY:
            total = queries.goodput(scope(), window, by).total
            for peer in peers:
                assert peer.total(window) == total.amounts, (peer.name, days, by)


def scope() -> Any:
    from ledger.access import scope_of_organization
    from ledger.models import Organization

    return scope_of_organization(Organization.objects.get())


def questions(made: Any, peers: list[Any]) -> Iterator[Asked]:
    """Yield every question: ours as the interface asks it, the running hour included."""
    from ledger import queries
    from ledger.core.windows import HOUR, Window

    now, of = made.open_hour + HOUR // 2, scope()
    windows = {
        "7 days": (Window.last_days(now, 7), False),
        "8 weeks": (Window.last_days(now, 56), False),
        "8 weeks, weekly": (Window.last_weeks(now, 8), True),
        f"{made.days} days": (Window.last_days(now, made.days), False),
    }
    for by in BY:
        for name, (window, weekly) in windows.items():
            ask = queries.weekly if weekly else queries.goodput
            yield Asked(
                f"by {by}, {name}",
                lambda ask=ask, window=window, by=by: ask(of, window, by),
                tuple(lambda p=p, b=by, w=window, k=weekly: p.ledgers(b, w, weekly=k) for p in peers),
                WANTED.get(by),
            )
    run = queries.find_run(of, queries.runs(of, going=True, limit=1).rows[0].uid)
    assert run is not None
    key = run.id
    yield Asked(
        "a run since it was submitted",
        lambda: queries.run_goodput(of, run),
        tuple(lambda p=p: p.run(key) for p in peers),
        None,
    )


def row(asked: Asked, times: int) -> tuple[str, ...]:
    """Ask it and return its line."""
    ours, *theirs = (median(ask, times) for ask in (asked.ours, *asked.peers))
    ratio = ours / min(theirs)
    reached = "" if asked.wanted is None else "reached" if ratio <= asked.wanted else "not reached"
    wanted = "" if asked.wanted is None else f"{asked.wanted:g}"
    return (asked.name, milliseconds(ours), *map(milliseconds, theirs), f"{ratio:.2f}", wanted, reached)


def median(ask: Callable[[], Any], times: int) -> float:
    ask()
    costs = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        costs.append(time.perf_counter() - began)
    return statistics.median(costs)


def scraped(made: Any, times: int) -> str:
    """Scrape and tell what it took, all of it and the statements alone, and what it takes with no closed hours kept."""
    from ledger import metrics, queries
    from ledger.core.windows import HOUR

    of, now = scope(), made.open_hour + HOUR // 2

    def ask() -> bytes:
        return metrics.exposition(metrics.families(queries.scrape(of, now)), "")[0]

    def ask_afresh() -> bytes:
        queries.forget_closed_hours()
        return ask()

    afresh, whole = median(ask_afresh, times), median(ask, times)
    statements = median(lambda: queries.scrape(of, now), times)
    return (
        f"\nA scrape: {milliseconds(whole)} ms, of which the statements and reading them {milliseconds(statements)} ms "
        f"({milliseconds(afresh)} ms when closed hours are read); {len(ask()):,} bytes. Wanted: 50 ms."
    )


if __name__ == "__main__":
    main()
