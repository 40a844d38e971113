"""The last weeks of a place: a line a week with the rows that lost most in it."""

from dataclasses import dataclass, replace

from dashboards.filters import Shown
from dashboards.moments import iso, utc
from dashboards.places import ClusterPlace, Place
from dashboards.rows import Leads, ShownRow, rows_on_scale, sum_row
from ledger.core.windows import HOUR, Window
from ledger.queries import Costs, Week, Weeks

WEEKS = 8
ROWS = 4


@dataclass(frozen=True)
class ShownWeek:
    """A week: its sum, its first rows, how many there are beyond them and where to see them all."""

    start: int
    name: str
    days: str
    partial: bool
    address: str
    total: ShownRow
    rows: tuple[ShownRow, ...]
    more: int


def shown_weeks(weeks: Weeks, shown: Shown, place: Place | ClusterPlace) -> tuple[ShownWeek, ...]:
    """Return the weeks, the newest first; what leads deeper leads to the place's page for that week.

    On the scale "same" the fullest week takes the whole width, and its rows have the scale of the weeks.
    """
    longest = max((week.total.asked for week in weeks.weeks), default=0)
    several = weeks.clusters > 1
    return tuple(shown_week(week, shown, place, longest, weeks.costs, several) for week in reversed(weeks.weeks))


def shown_week(
    week: Week, shown: Shown, place: Place | ClusterPlace, longest: int, costs: Costs | None, several: bool
) -> ShownWeek:
    address = place.address
    there = replace(in_week(shown, week), scale="same")
    leads = Leads(place.organization, place, address, among=isinstance(place, ClusterPlace), several=several)
    here = replace(there, scale=shown.scale)
    full = longest if shown.scale == "same" else week.total.asked
    return ShownWeek(
        start=week.start,
        name=name(week),
        days=days(week),
        partial=week.partial,
        address=address + there.link(),
        total=sum_row(
            week.total,
            name(week),
            f"w{week.start}",
            there,
            full,
            href=address + there.link(),
            address=address,
            cost=costs.total(week.start) if costs else None,
        ),
        rows=tuple(
            replace(row, deeper="")
            for row in rows_on_scale(week.rows, here, leads, longest, f"w{week.start}-", costs, week.start)
        ),
        more=week.count - len(week.rows),
    )


def in_week(shown: Shown, week: Week) -> Shown:
    """Return the same page for the hours of one week."""
    window = Window(week.start, week.end)
    return replace(shown, window=window, range="custom", start=iso(week.start), end=iso(week.end))


def name(week: Week) -> str:
    """Return the ISO week: "Week 47"."""
    return f"Week {utc(week.start).isocalendar().week}"


def days(week: Week) -> str:
    """Return the days of a week: "16–22 Nov", "28 Sep – 4 Oct"."""
    first, last = utc(week.start), utc(week.start + 7 * 24 * HOUR - 1)
    if first.month == last.month:
        return f"{first.day}–{last.strftime('%-d %b')}"
    return f"{first.strftime('%-d %b')} – {last.strftime('%-d %b')}"
