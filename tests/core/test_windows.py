"""Whole UTC hours, days and ISO weeks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.windows import DAY, HOUR, WEEK, Window, ceil_hour, floor_day, floor_hour, floor_week
from tests.worlds import ms

INSTANTS = st.integers(0, 4_102_444_800_000)


@given(INSTANTS)
def test_floors_agree_with_the_calendar(at: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    hour = moment.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    monday = day - timedelta(days=day.isoweekday() - 1)
    assert floor_hour(at) == ms(hour.isoformat())
    assert floor_day(at) == ms(day.isoformat())
    assert floor_week(at) == ms(monday.isoformat())
    assert ceil_hour(at) == -floor_hour(-at)
    assert 0 <= ceil_hour(at) - at < HOUR


@given(INSTANTS, st.integers(1, 400 * DAY - 2 * HOUR))
def test_a_window_around_instants_is_of_whole_hours_and_no_wider_than_it_must(start: int, length: int) -> None:
    window = Window.around(start, start + length)
    assert window.start <= start < window.start + HOUR
    assert window.end - HOUR < start + length <= window.end


def test_days_are_counted_back_from_the_running_hour() -> None:
    now = ms("2026-10-01T12:34:56.789Z")
    assert Window.last_days(now, 7) == Window(ms("2026-09-24T13:00:00Z"), ms("2026-10-01T13:00:00Z"))
    assert Window.last_days(ms("2026-10-01T12:00:00Z"), 1).end == ms("2026-10-01T13:00:00Z")


def test_eight_weeks_are_the_last_eight_the_running_one_included() -> None:
    now = ms("2026-10-01T12:34:56Z")
    assert Window.last_weeks(now, 8) == Window(ms("2026-08-10T00:00:00Z"), ms("2026-10-01T13:00:00Z"))
    assert Window.last_weeks(ms("2026-09-28T00:00:00Z"), 1) == Window(
        ms("2026-09-28T00:00:00Z"), ms("2026-09-28T01:00:00Z")
    )
    assert Window.last_weeks(ms("2026-09-27T23:59:59.999Z"), 1).start == ms("2026-09-21T00:00:00Z")


def test_weeks_go_on_over_a_year_of_53_weeks() -> None:
    assert floor_week(ms("2027-01-03T23:00:00Z")) == ms("2026-12-28T00:00:00Z")
    assert floor_week(ms("2027-01-04T00:00:00Z")) == ms("2027-01-04T00:00:00Z")


def test_a_window_may_have_400_days_and_no_hour_more() -> None:
    assert Window(0, 400 * DAY).end == 400 * DAY
    with pytest.raises(ValueError, match="400 days"):
        Window(0, 400 * DAY + HOUR)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (HOUR, 0), (1, HOUR), (0, HOUR + 1)])
def test_a_window_that_is_none_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=r"hours|after"):
        Window(start, end)


def test_the_window_before_adjoins_and_is_as_long() -> None:
    assert Window(2 * WEEK, 3 * WEEK).before() == Window(WEEK, 2 * WEEK)
