"""Ways to tell a trace to the real ledger: whole, piece by piece as time goes by, late, doubled, out of order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from ledger import sql
from ledger.batches import Batch, RunItem, WorkerItem
from ledger.categorizer import categorize
from ledger.ingest import ingest
from ledger.models import Cluster
from ledger.replay import trace
from ledger.replay.trace import Trace
from tests.evidence import Rule, Settings
from tests.postgres_world import cells, make_cluster

HOUR, DAY = 3_600_000, 86_400_000
NOW = 1_790_000_000_000  # the scripted clock's instant at the end of every trace: 2026-09-21T14:13:20Z
WITHOUT_READINGS = Settings(rules=(Rule(0, "productive", readings_expected=False),))


class Told(NamedTuple):
    """A state with its run, and when (ms) it reaches the ledger."""

    arrives: int
    run: RunItem
    state: WorkerItem


def shift_of(told: Trace) -> int:
    return trace.whole_hours(told.last, NOW)


def part_of(told: Trace, every: int) -> Trace:
    """Return every so many-th run of a trace."""
    return Trace(told.runs[::every], told.first, told.last, told.has_calendar)


def days(told: Trace, begin: int, end: int) -> Trace:
    """Return the runs that begin and end in these days of a trace."""
    first, last = told.first + begin * DAY, told.first + end * DAY
    runs = [run for run in told.runs if all(first <= s.at < last for w in run.workers for s in w.states)]
    instants = [s.at for run in runs for w in run.workers for s in w.states]
    return Trace(runs, min(instants), max(instants), told.has_calendar)


def whole(told: Trace, items: int) -> Iterator[Batch]:
    parts = trace.batches(told, source="replay/x", shift=shift_of(told), workspace="w", items=items)
    return (part for _, part in parts)


def states(told: Trace) -> list[tuple[RunItem, WorkerItem]]:
    """Return each state of the trace with its run."""
    return [(run, state) for part in whole(told, items=1) for run in part.runs for state in part.workers]


def live(told: Trace, dice: Random) -> list[tuple[int, Batch]]:
    """Return (clock, batch): each state twice, each time up to two days late, in batches of any size."""
    delays = (0, 0, 0, 1_000, HOUR // 3, 7 * HOUR, 2 * DAY)
    facts = [
        Told(state.at + dice.choice(delays) + dice.randrange(60_000), run, state) for run, state in states(told) * 2
    ]
    facts.sort(key=lambda fact: (fact.arrives, dice.random()))
    deliveries, start = [], 0
    while start < len(facts):
        end = start + dice.choice((1, 3, 20, 60, 200))
        deliveries.append(_batch(told, facts[start:end], facts[start:end][-1].arrives, dice))
        start = end
    return deliveries


def shuffled(told: Trace, dice: Random, largest: int) -> list[tuple[int, Batch]]:
    """Return (clock, batch): after the trace's end, each state twice, in no order at all, in batches of any size."""
    facts = [Told(NOW, run, state) for run, state in states(told) * 2]
    dice.shuffle(facts)
    deliveries, start, clock = [], 0, NOW
    while start < len(facts):
        end = start + dice.randint(1, largest)
        clock += dice.choice((0, 1_000, HOUR))
        deliveries.append(_batch(told, facts[start:end], clock, dice))
        start = end
    return deliveries


def mixed(told: Trace, dice: Random) -> list[tuple[int, Batch]]:
    """Return (clock, batch): after the trace's end, each run at once and twice, its states and all runs in no order."""
    deliveries = []
    for items in (900, 2_500):
        runs = dice.sample(told.runs, len(told.runs))
        for part in whole(Trace(runs, told.first, told.last), items):
            dice.shuffle(part.workers)
            deliveries.append((NOW, part))
    dice.shuffle(deliveries)
    return deliveries


def _batch(told: Trace, facts: Sequence[Told], clock: int, dice: Random) -> tuple[int, Batch]:
    batch = Batch("replay/x", sent_at=clock, seen_from=told.first + shift_of(told))
    batch.runs = list({fact.run.uid: fact.run for fact in facts}.values())
    batch.workers = [fact.state._replace(index=k) for k, fact in enumerate(facts)]
    dice.shuffle(batch.workers)
    batch.named = {(item.run, item.worker) for item in batch.workers}
    return clock, batch


def tell(
    told: Trace, deliveries: Iterable[tuple[int, Batch]], dice: Random, began: int, counts: float = 0.1
) -> tuple[Cluster, int]:
    """Deliver all, with the categorizer at random instants between; return the cluster and its clock at the end.

    `counts` is how often it comes, as a share of the deliveries.
    """
    cluster = make_cluster(WITHOUT_READINGS, began)
    clock = began
    for now, batch in deliveries:
        if dice.random() < counts:
            sql.execute("analyze_loaded")  # what is rolled back by each test leaves the planner's figures wrong
            categorize(cluster, now=dice.randint(clock, now), batch_size=dice.choice((7, 1000)))
        clock = now
        receipt = ingest(cluster, batch, now=clock)
        assert not receipt.refused
    clock = max(clock, NOW) + dice.randrange(HOUR)
    sql.execute("analyze_loaded")
    categorize(cluster, now=clock)
    return cluster, clock


class Sums(NamedTuple):
    """GPU-microseconds by line: on machines, and unplaced."""

    held: Counter[str]
    unplaced: Counter[str]


def sums(cluster: Cluster, at: int) -> dict[str, Sums]:
    """Return the sums of each run that has any cell, by its uid."""
    found: dict[str, Sums] = {}
    for (_, uid, machine, _), lines in cells(cluster, at).items():
        one = found.setdefault(uid, Sums(Counter(), Counter()))
        (one.unplaced if machine == "unplaced" else one.held).update(lines)
    return found


def total(every: Iterable[Sums]) -> Sums:
    """Return the sum of all; lines that are 0 are absent."""
    held: Counter[str] = Counter()
    unplaced: Counter[str] = Counter()
    for one in every:
        held.update(one.held)
        unplaced.update(one.unplaced)
    return Sums(held, unplaced)
