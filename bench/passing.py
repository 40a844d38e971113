"""Minutes and hours that pass over a fleet, each kind of work timed by itself."""

from collections import defaultdict
from functools import partial

from django.db import connection, transaction

from bench import fleets
from bench.costs import Measured, timed
from bench.fleets import Fleet
from bench.ground import run
from ledger import hours
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.core.windows import HOUR
from ledger.ingest import ingest
from ledger.straggling import look

CHECKED_MAX = 20_000


def measure(size: int, hour: int, minutes: int, closes: int) -> Measured:
    """Let `minutes` pass over a fleet of `size` whose hour begins at `hour` (ms), then close `closes` hours.

    In each minute 1 % of the workers fall silent, so that time alone changes them, and another 1 % change state.
    """
    measured: Measured = defaultdict(list)
    fleet = fleets.make(size, hour)
    run("each_drop")
    run("each_make", cluster=fleet.cluster.pk, now=fleet.at(fleets.COUNTED))
    last = fleets.COUNTED + minutes
    for minute in range(fleets.COUNTED + 1, last + 1):
        pass_minute(fleet, minute, measured)
    if size <= CHECKED_MAX:
        assert_sound(fleet, fleet.at(last))
    for number in range(1, closes + 1):
        run("worn_cells", cluster=fleet.cluster.pk)
        closed = timed(measured["close"], partial(hours.close_over, fleet.cluster.pk, fleet.hour + number * HOUR))
        assert closed == 1
    return measured


def pass_minute(fleet: Fleet, minute: int, measured: Measured) -> None:
    """Pass one minute in both designs, between two bare scans."""
    now = fleet.at(minute)
    change = fleets.Change(now - 20_000, fleet.members(fleets.SLICES + fleets.COUNTED + 1 - minute))
    batch = change.batch(fleet, now)
    fleets.take_readings(fleet, minute)
    timed(measured["scan"], scan)
    timed(measured["changes"], lambda: ingest(fleet.cluster, batch, now=now))
    counted = timed(measured["minute"], lambda: categorize(fleet.cluster, now=now))
    assert counted.workers == len(fleet.members(minute - fleets.COUNTED)), "one slice fell silent"
    timed(measured["idle"], lambda: categorize(fleet.cluster, now=now))
    looked = timed(measured["look"], lambda: look(fleet.cluster, now=now))
    assert looked.found, "some are slower than their gangs"
    timed(measured["each_changes"], lambda: run("each_change", at=change.at, hour=fleet.hour, **change.rows()))
    timed(measured["each"], lambda: run("each_minute", now=now, hour=fleet.hour))
    timed(measured["scan"], scan)


def scan() -> None:
    """Look at every worker's row once; an index would answer without looking."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexonlyscan = off")
        run("bare_scan")


def assert_sound(fleet: Fleet, now: int) -> None:
    """Refuse figures of a ledger that is not what its evidence says."""
    *_, findings = check(fleet.cluster.pk, now, now=now)
    assert findings.workers == fleet.size
    assert not findings.differences, findings.differences[:3]
