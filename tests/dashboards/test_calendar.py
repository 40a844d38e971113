"""Hours of the ledger on the calendar of whoever reads: every zone, also where its clock is changed."""

from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest

from dashboards.calendar import HOURS, Day, days, days_before
from dashboards.filters import shown
from dashboards.heat import heat
from dashboards.moments import iso, moment
from dashboards.zones import reading_in
from ledger.core.totals import GPU_US_PER_HOUR, Ledger
from ledger.core.windows import DAY, HOUR, Window
from ledger.queries import Held, Stretch

SEASONS = ("2027-03-01", "2027-09-01")  # and 75 days after them, in which clocks are changed


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def rows(day: Day) -> list[str]:
    """What each hour of the clock is, but where it is one hour long."""
    return [f"{hour}: {cell.hours} {cell.zone}" for hour, cell in enumerate(day.cells) if cell.hours != 1]


@pytest.mark.parametrize("zone", sorted(available_timezones()))
def test_days_are_whole_and_no_hour_is_lost_or_doubled(zone: str) -> None:
    with reading_in(zone):
        for begin in map(at, SEASONS):
            found = days(begin, begin + 75 * DAY)
            told = [hour for day in found for cell in day.cells for hour in cell.instants]
            assert told == list(range(found[0].start, found[-1].end, HOUR))
            assert told[0] - HOUR < begin < told[-1]
            for day in found:
                assert len(day.cells) == HOURS
                assert moment(day.start).date() == moment(day.end - HOUR).date() == day.date
                odd = [cell for cell in day.cells if cell.hours != 1]
                assert len(odd) <= (2 if zone == "Antarctica/Troll" else 1), "two hours at once"


@pytest.mark.parametrize(("zone", "day", "odd", "long"), [
    ("Europe/Paris", "2026-03-29T12:00", ["2: 0 CEST"], 23),
    ("Europe/Paris", "2026-10-25T12:00", ["2: 2 CEST"], 25),
    ("Asia/Kolkata", "2026-10-25T12:00", [], 24),
    ("Africa/Cairo", "2026-04-24T12:00", ["0: 0 EEST"], 23),
    ("America/Havana", "2026-11-01T12:00", ["0: 2 CDT"], 25),
    ("Antarctica/Troll", "2026-10-25T12:00", ["2: 3 UTC+02"], 26),
    ("Australia/Lord_Howe", "2026-04-05T00:00", ["1: 2 UTC+11"], 25),
])  # fmt: skip
def test_where_the_clock_is_changed_an_hour_has_none_or_two(zone: str, day: str, odd: list[str], long: int) -> None:
    with reading_in(zone):
        (found,) = days(at(day), at(day))
        assert rows(found) == odd
        assert found.end - found.start == long * HOUR


def test_hours_of_a_zone_half_an_hour_off_begin_at_half_past() -> None:
    with reading_in("Asia/Kolkata"):
        (found,) = days(at("2026-11-02T20:00"), at("2026-11-02T20:00"))
        assert iso(found.start) == "2026-11-02T19:00:00Z"
        assert [moment(cell.start).minute for cell in found.cells] == [30] * HOURS
        assert days_before(at("2026-11-02T20:00"), 1) == at("2026-11-01T18:30")


def test_the_map_sums_the_hour_that_comes_twice_and_says_what_is_odd() -> None:
    window = Window(at("2026-10-23T22:00"), at("2026-10-26T23:00"))
    known = {hour: Held(2 * GPU_US_PER_HOUR, GPU_US_PER_HOUR) for hour in range(window.start, window.end, HOUR)}
    with reading_in("Europe/Paris"):
        wanted = shown({"start": iso(window.start), "end": iso(window.end)}, window.end)
        found = heat([Stretch(window.start, Ledger(), known)], wanted, window.end)
    assert found.odd == "26:2"
    assert found.zones == "0:CEST,27:CET"
    assert [day.name for day in found.days] == ["Sat 24 Oct", "Sun 25 Oct", "Mon 26 Oct"]
    assert len(found.told.split(",")) == 3 * HOURS
    assert found.told.split(",")[25:28] == ["50|2.0", "50|4.0", "50|2.0"]
    assert found.start == window.start
