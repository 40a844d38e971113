"""Calendars: no zone, leap day, leap second or odd week moves an amount (T16, T17)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from django.db import connection

from goodput_site.celery import app
from ledger.access import scope_of_organization
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.core.windows import DAY, HOUR, MAX_DAYS, WEEK, Window, floor_day, floor_hour, floor_week
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, DayRun, LedgerHour
from ledger.queries import GROUPINGS, goodput
from tests.evidence import Settings
from tests.postgres_world import make_cluster
from tests.worlds import iso

EPOCH = date(1970, 1, 1)


def ms(*moment: int) -> int:
    return round(datetime(*moment, tzinfo=UTC).timestamp()) * 1000


def days(first: int, last: int) -> Iterator[date]:
    for number in range((date(last, 1, 1) - date(first, 1, 1)).days):
        yield date(first, 1, 1) + timedelta(days=number)


def test_t17_every_day_of_400_years_has_its_midnight_and_its_week() -> None:
    for day in days(1900, 2300):
        noon = ((day - EPOCH).days * 24 + 12) * HOUR
        assert floor_day(noon) == (day - EPOCH).days * DAY
        year, week, _ = day.isocalendar()
        assert floor_week(noon) == (date.fromisocalendar(year, week, 1) - EPOCH).days * DAY


def test_t17_a_window_has_at_most_400_days_whatever_the_year() -> None:
    for year in (1972, 1999, 2000, 2024, 2100):
        end = ms(year, 2, 28) + DAY
        assert Window(end - MAX_DAYS * DAY, end).end == end
        with pytest.raises(ValueError, match="at most 400 days"):
            Window(end - MAX_DAYS * DAY - HOUR, end)


def test_t17_eight_weeks_over_a_year_with_a_53rd_week() -> None:
    window = Window.last_weeks(ms(2027, 1, 6, 10, 30), 2)
    assert (window.start, window.end) == (ms(2026, 12, 28), ms(2027, 1, 6, 11))
    assert date(2026, 12, 28).isocalendar()[1] == 53
    assert (window.end - window.start) // WEEK == 1


def test_t16_hours_are_utc_in_every_zone_of_the_world() -> None:
    """A local hour may be half an hour off or come twice; the ledger's hour is the instant's alone."""
    for name in sorted(available_timezones())[::7]:
        for start in (datetime(2026, 3, 29, 0, 15, tzinfo=UTC), datetime(2026, 10, 25, 0, 15, tzinfo=UTC)):
            seen = set()
            for quarter in range(16):
                moment = (start + timedelta(minutes=15 * quarter)).astimezone(ZoneInfo(name))
                seen.add(floor_hour(round(moment.timestamp() * 1000)))
            assert sorted(seen) == [floor_hour(round(start.timestamp() * 1000)) + HOUR * k for k in range(5)], name


def test_t16_the_schedule_is_in_utc_and_made_of_intervals() -> None:
    assert app.conf.timezone == "UTC"
    assert app.conf.enable_utc
    assert all(isinstance(entry["schedule"], float) for entry in app.conf.beat_schedule.values())


def tell(cluster: Cluster, sent: int, moment: int, **facts: Any) -> None:
    item = {"run": "r", "worker": "w", "at": iso(moment), **facts}
    body = {"source": "a", "sent_at": iso(sent), "runs": [{"uid": "r", "workspace": "v"}], "workers": [item]}
    ingest(cluster, decode(json.dumps(body).encode(), "application/json"), now=sent)


@contextmanager
def session_in(zone: str) -> Iterator[None]:
    """The session's zone; Django's own reads need UTC again."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', %s, true)", [zone])
    yield
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', 'UTC', true)")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    ("start", "hours"),
    [
        (ms(2028, 2, 28, 20), 52),
        (ms(2026, 12, 31, 20), 30),
        (ms(2016, 12, 31, 22), 26),
        (ms(2027, 3, 27, 22), 28),
        (ms(2027, 10, 30, 22), 30),
    ],
    ids=["leap day", "year end", "leap second", "summer time begins", "summer time ends"],
)
def test_t16_t17_a_life_over_an_odd_day_has_its_hours(db: None, zone: str, start: int, hours: int) -> None:
    """One GPU for so many hours, counted by sessions in any zone: each hour 1, the days their sum."""
    cluster = make_cluster(Settings(), start)
    end = start + hours * HOUR
    until = end + 30 * HOUR
    with session_in(zone):
        tell(cluster, start, start, phase="running", gpus=1)
        tell(cluster, end, end, phase="ended")
        categorize(cluster, now=until)
        findings = list(check(cluster.pk, until, now=until))[-1]
        whole = Window(floor_day(start) - 3 * DAY, floor_day(until))
        asked = {by: goodput(scope_of_organization(cluster.organization), whole, by).total for by in GROUPINGS}
    assert findings.differences == []
    assert {total.productive for total in asked.values()} == {hours * 3_600_000_000}
    amounts = LedgerHour.objects.order_by("hour").values_list("hour", "productive")
    assert [(round(hour.timestamp() * 1000), amount) for hour, amount in amounts] == [
        (start + k * HOUR, 3_600_000_000) for k in range(hours)
    ]
    rolled = {round(day.timestamp() * 1000): n for day, n in DayRun.objects.values_list("day", "productive")}
    midnights = range(floor_day(start), end, DAY)
    assert rolled == {day: (min(day + DAY, end) - max(day, start)) // HOUR * 3_600_000_000 for day in midnights}
