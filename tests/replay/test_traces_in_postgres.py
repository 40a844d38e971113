"""The published traces through the real ledger: exact whichever way they are told."""

from collections import Counter
from random import Random

import pytest

from ledger.ingest import ingest
from ledger.models import Run
from ledger.replay.trace import Trace, amounts_of
from ledger.replay.wire import body_of
from tests import oracle
from tests.postgres_world import cells
from tests.replay.telling import (
    NOW,
    WITHOUT_READINGS,
    Sums,
    days,
    live,
    mixed,
    part_of,
    shift_of,
    shuffled,
    sums,
    tell,
    total,
    whole,
)
from tests.replay.traces import (
    OPENB_HELD,
    OPENB_WAITED,
    PHILLY_BETWEEN,
    PHILLY_FIRST_WAIT,
    PHILLY_HELD,
    openb_trace,
    philly_trace,
)

pytestmark = pytest.mark.django_db


def expected(told: Trace) -> Sums:
    """Return what the file says: held is productive, waits are waiting and, between attempts, failure."""
    amounts = told.amounts()
    waits = {"waiting": amounts.first_wait, "failure": amounts.between}
    return Sums(Counter({"productive": amounts.held}), Counter({k: v for k, v in waits.items() if v}))


def began(told: Trace) -> int:
    return told.first + shift_of(told)


def each_run_has_what_its_row_says(told: Trace, every: dict[str, Sums]) -> None:
    for run in told.runs:
        one = every.get(run.uid, Sums(Counter(), Counter()))
        found = (one.held["productive"], one.unplaced["waiting"], one.unplaced["failure"])
        assert found == amounts_of(run.workers[0]), run.uid


def test_philly_told_in_its_order() -> None:
    cluster, clock = tell(philly_trace(), ((NOW, part) for part in whole(philly_trace(), 5_000)), Random(1), NOW)
    each_run_has_what_its_row_says(philly_trace(), sums(cluster, clock))
    found = total(sums(cluster, clock).values())
    assert found.held == {"productive": PHILLY_HELD}
    assert found.unplaced == {"waiting": PHILLY_FIRST_WAIT, "failure": PHILLY_BETWEEN}
    for part in whole(philly_trace(), 1_000):
        again = ingest(cluster, part, now=clock)
        assert (again.duplicate, again.accepted) == (len(part.workers), len(part.runs))
    assert total(sums(cluster, clock).values()) == found


def test_openb_told_in_its_order() -> None:
    cluster, clock = tell(openb_trace(), ((NOW, part) for part in whole(openb_trace(), 5_000)), Random(2), NOW)
    every = sums(cluster, clock)
    each_run_has_what_its_row_says(openb_trace(), every)
    outcomes = dict(Run.objects.filter(cluster=cluster).values_list("uid", "outcome"))
    held: Counter[str] = Counter()
    waited: Counter[str] = Counter()
    for uid, one in every.items():
        assert set(one.held) <= {"productive"}
        assert set(one.unplaced) <= {"waiting"}
        held[outcomes[uid]] += one.held["productive"]
        waited[outcomes[uid]] += one.unplaced["waiting"]
    assert +held == OPENB_HELD
    assert waited == OPENB_WAITED
    without_gpus = {run.uid for run in openb_trace().runs if run.workers[0].states[0].gpus_milli == 0}
    assert len(without_gpus) == 1088
    assert not without_gpus & every.keys()
    pending = [uid for uid, outcome in outcomes.items() if outcome == "Pending"]
    assert len(pending) == 897
    assert not any(every[uid].held for uid in pending if uid in every)


@pytest.mark.parametrize("told", [philly_trace(), openb_trace()], ids=["philly", "openb"])
def test_told_run_by_run_in_no_order_and_twice(told: Trace) -> None:
    dice = Random(6)
    cluster, clock = tell(told, mixed(told, dice), dice, NOW, 0.05)
    assert total(sums(cluster, clock).values()) == expected(told)


@pytest.mark.parametrize(
    "told", [days(philly_trace(), 20, 45), part_of(days(openb_trace(), 100, 125), 12)], ids=["philly", "openb"]
)
def test_told_live_late_doubled_and_counted_at_random_instants(told: Trace) -> None:
    dice = Random(4)
    cluster, clock = tell(told, live(told, dice), dice, began(told))
    assert len(told.runs) > 150
    assert total(sums(cluster, clock).values()) == expected(told)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("told", [part_of(philly_trace(), 30), part_of(openb_trace(), 200)], ids=["philly", "openb"])
def test_told_afterwards_in_no_order(told: Trace, seed: int) -> None:
    dice = Random(seed)
    cluster, clock = tell(told, shuffled(told, dice, 40), dice, NOW, 0.04)
    assert total(sums(cluster, clock).values()) == expected(told)


@pytest.mark.soak
@pytest.mark.parametrize("told", [philly_trace(), openb_trace()], ids=["philly", "openb"])
def test_a_whole_trace_told_live_and_afterwards_in_no_order(told: Trace) -> None:
    dice = Random(7)
    for way, begin in ((live(told, dice), began(told)), (shuffled(told, dice, 8_000), NOW)):
        cluster, clock = tell(told, way, dice, begin)
        assert total(sums(cluster, clock).values()) == expected(told)


def test_its_cells_are_those_of_the_oracle() -> None:
    told = part_of(philly_trace(), 60)
    deliveries = [(NOW, part) for part in whole(told, 5_000)]
    cluster, clock = tell(told, deliveries, Random(5), NOW)
    asked = oracle.cells([body_of(part) for _, part in deliveries], WITHOUT_READINGS, clock)
    assert cells(cluster, clock) == asked
    assert len(asked) > 500
