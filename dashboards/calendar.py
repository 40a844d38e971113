"""The hours of the ledger on the calendar of whoever reads: local days of 24 hours of the clock.

Hours of the ledger are UTC hours. One stands at the local hour in which it begins: at its half where a zone is half an
hour off. Where the clock is put forward an hour of the day has none; where it is put back one has all that it repeats.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from dashboards import zones
from dashboards.moments import EPOCH, moment, zone, zone_of
from ledger.core.windows import HOUR, ceil_hour

HOURS = 24
Named = tuple[int, str]  # an hour, ms, and what the zone is called in it


class Cell(NamedTuple):
    """An hour of a day's clock: the UTC hours [start, start + hours × HOUR), ms, and what the zone is called then."""

    start: int
    hours: int
    zone: str

    @property
    def instants(self) -> range:
        return range(self.start, self.start + self.hours * HOUR, HOUR)


class Day(NamedTuple):
    """A local day and the 24 hours of its clock; [start, end) are its hours of the ledger, ms."""

    date: date
    cells: tuple[Cell, ...]

    @property
    def start(self) -> int:
        return self.cells[0].start

    @property
    def end(self) -> int:
        return self.cells[-1].start + self.cells[-1].hours * HOUR


def midnight(day: date) -> int:
    """Return the instant at which a local day begins."""
    begin = datetime.combine(day, time(), zones.here())
    return (begin - EPOCH) // timedelta(milliseconds=1)


def days_before(at: int, count: int) -> int:
    """Return the instant at which the local day `count` days before that of `at` begins."""
    return midnight(moment(at).date() - timedelta(days=count))


def days(first: int, last: int) -> tuple[Day, ...]:
    """Return the local days from that of the instant `first` to that of `last`; one that the zone skipped is none."""
    begin, end = moment(first).date(), moment(last).date()
    dates = (begin + timedelta(days=number) for number in range((end - begin).days + 1))
    return tuple(day for date in dates if (day := day_of(date)))


def day_of(date: date) -> Day | None:
    """Return a local day; None for one without an hour."""
    first, last = ceil_hour(midnight(date)), ceil_hour(midnight(date + timedelta(days=1)))
    here = moment(first)
    name = zone_of(here)
    if last - first == HOURS * HOUR and here.hour == 0 and name == zone(last - HOUR):
        return Day(date, tuple(Cell(hour, 1, name) for hour in range(first, last, HOUR)))
    found: list[list[Named]] = [[] for _ in range(HOURS)]
    row = 0
    for hour in range(first, last, HOUR):
        here = moment(hour)
        row = max(here.hour, row)
        found[row].append((hour, zone_of(here)))
    return Day(date, tuple(cells(found))) if any(found) else None


def cells(of_day: list[list[Named]]) -> Iterator[Cell]:
    """Yield the hours of a day's clock; one that the clock skips has none, and begins where the next one does."""
    start = next(hours[0][0] for hours in of_day if hours)
    for hours in of_day:
        start, name = hours[0] if hours else (start, zone(start))
        yield Cell(start, len(hours), name)
        start += len(hours) * HOUR
