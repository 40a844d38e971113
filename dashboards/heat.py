"""The hours of a place as a heat map: a column a day, a row an hour of the day, the deeper the better its goodput.

Drawn as one path a shade, so that eight weeks weigh little; read by a screen reader as the table below it; the browser
tells an hour's figures under the pointer and by the arrow keys out of `told`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from dashboards.bars import Markup
from dashboards.filters import Shown
from dashboards.moments import iso, utc
from dashboards.numbers import ABSENT, hours
from ledger.core.totals import Ledger
from ledger.core.totals import percent as percentage
from ledger.core.windows import DAY, HOUR, floor_day

DAYS_MAX = 56
HOURS = 24
MARKS_MAX = 14
SHADES = (20, 40, 60, 80, 95)  # the least percent of goodput of the second shade and those after it
NOT_HELD = -1


@dataclass(frozen=True)
class Day:
    """A day of the table: `cells` has one an hour, whole percent of goodput; `href` shows the day alone."""

    start: int
    name: str
    href: str
    cells: Markup
    goodput: str
    held: str


@dataclass(frozen=True)
class Heat:
    """A heat map: its picture, `told` (hour by hour from `start`: "goodput|held") and the same as a table."""

    start: int
    picture: Markup
    days: tuple[Day, ...]
    told: str
    cut: bool

    @property
    def columns(self) -> range:
        return range(HOURS)

    @property
    def marked(self) -> list[str]:
        """The names below the columns: each day's when there is room, else each week's first."""
        step = 1 if len(self.days) <= MARKS_MAX else 7
        return [day.name if number % step == 0 else "" for number, day in enumerate(self.days)]


def heat(hourly: Iterable[tuple[int, Ledger]], shown: Shown, until: int) -> Heat:
    """Return the heat map of the last days that are shown; `until` (ms) is up to where they are counted."""
    window = shown.window
    end = min(window.end, until)
    last = floor_day(max(end - 1, window.start))
    first = max(floor_day(window.start), last - (DAYS_MAX - 1) * DAY)
    known = {hour: ledger for hour, ledger in hourly if hour >= first and ledger.allocated}
    count = (last - first) // DAY + 1
    return Heat(
        start=first,
        picture=picture(known, first, count, until),
        days=tuple(day(known, first + number * DAY, shown) for number in range(count)),
        told=",".join(word(known.get(first + number * HOUR)) for number in range(count * HOURS)),
        cut=first > window.start,
    )


def shade(goodput: Fraction | None) -> int:
    """Return the shade of an hour, NOT_HELD when nothing was held in it."""
    return NOT_HELD if goodput is None else sum(goodput * 100 >= least for least in SHADES)


def picture(known: Mapping[int, Ledger], first: int, count: int, until: int) -> Markup:
    """Return the SVG; its user units are days across and hours down."""
    paths: dict[int, list[str]] = {}
    for number in range(count):
        day = [shade(known[hour].goodput) if hour in known else NOT_HELD for hour in hours_of(first + number * DAY)]
        y = 0
        for depth, same in groupby(day):
            long = len(list(same))
            if depth != NOT_HELD:
                paths.setdefault(depth, []).append(f"M{number} {y}h1v{long}h-1z")
            y += long
    drawn = "".join(f'<path class="h{depth}" d="{"".join(path)}"/>' for depth, path in sorted(paths.items()))
    x, y = divmod((until - first) // HOUR, HOURS)
    running = f'<path class="running" d="M{x} {y}h1v1h-1z"/>' if 0 <= x < count and first <= until else ""
    return Markup(
        f'<svg class="heat-map" viewBox="0 0 {count} {HOURS}" preserveAspectRatio="none" width="100%" '
        f'aria-hidden="true">{drawn}{running}<path class="cursor" d=""/></svg>'
    )


def hours_of(start: int) -> range:
    return range(start, start + DAY, HOUR)


def word(ledger: Ledger | None) -> str:
    """Return what is told of an hour: "93|8.0"; "" where nothing was held."""
    return "" if ledger is None else f"{whole(ledger)}|{hours(ledger.allocated)}"


def whole(ledger: Ledger) -> str:
    return percentage(ledger.goodput, ABSENT).removesuffix(" %")


def day(known: Mapping[int, Ledger], start: int, shown: Shown) -> Day:
    """Return a day of the table."""
    found = [known.get(hour) for hour in hours_of(start)]
    total = sum((ledger for ledger in found if ledger), Ledger())
    return Day(
        start=start,
        name=utc(start).strftime("%a %-d %b"),
        href=shown.link(range="custom", start=iso(start), end=iso(start + DAY)),
        cells=Markup("".join(f"<td>{whole(ledger) if ledger else ABSENT}</td>" for ledger in found)),
        goodput=percentage(total.goodput, ABSENT),
        held=hours(total.allocated),
    )
