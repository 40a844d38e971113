"""The hours of a place as a heat map: a column a day, a row an hour of the day, the deeper the better its goodput.

Days and hours are those of the reader's clock. Drawn as one path a shade, so that eight weeks weigh little; read by a
screen reader as the table below it; the browser tells an hour's figures under the pointer and by the arrow keys out of
`told`.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from dashboards.bars import Markup
from dashboards.calendar import HOURS, Cell, Day, days, days_before
from dashboards.filters import Shown
from dashboards.moments import iso, moment
from dashboards.numbers import ABSENT, hours
from ledger.core.totals import rounded
from ledger.core.windows import floor_hour
from ledger.queries import Held, Stretch

DAYS_MAX = 56
MARKS_MAX = 14
CLOCK = (0, 6, 12, 18, 24)
SHADES = (20, 40, 60, 80, 95)  # the least percent of goodput of the second shade and those after it
NOT_HELD = -1
NOTHING = Held()
Known = Mapping[int, Held]


class Column(NamedTuple):
    """A day, what is known of its hours, and the goodput of each as it is told."""

    day: Day
    found: tuple[Held, ...]
    percents: tuple[str, ...]


@dataclass(frozen=True)
class ShownDay:
    """A day of the table: `cells` has one an hour, whole percent of goodput; `href` shows the day alone."""

    start: int
    name: str
    href: str
    cells: Markup
    goodput: str
    held: str


@dataclass(frozen=True)
class Heat:
    """A heat map: its picture, `told` (hour by hour from `start`: "goodput|held") and the same as a table.

    `minute`: at which of the clock its hours begin. `odd`: "place:hours" of those that are not one hour long, for the
    clock was changed in them. `zones`: "place:name" of where the zone is called something else.
    """

    start: int
    minute: int
    picture: Markup
    days: tuple[ShownDay, ...]
    told: str
    odd: str
    zones: str
    cut: bool

    @property
    def columns(self) -> list[str]:
        return [f"{hour}:{self.minute}" if self.minute else str(hour) for hour in range(HOURS)]

    @property
    def clock(self) -> list[str]:
        """The names beside the rows."""
        return [f"{hour % HOURS:02d}:{self.minute}" if self.minute else f"{hour:02d}" for hour in CLOCK]

    @property
    def marked(self) -> list[str]:
        """The names below the columns: each day's when there is room, else each week's first."""
        step = 1 if len(self.days) <= MARKS_MAX else 7
        return [day.name if number % step == 0 else "" for number, day in enumerate(self.days)]


def heat(hourly: Iterable[Stretch], shown: Shown, until: int) -> Heat:
    """Return the heat map of the last days that are shown; `until` (ms) is up to where they are counted."""
    window = shown.window
    last = floor_hour(max(min(window.end, until) - 1, window.start))
    first = max(window.start, days_before(last, DAYS_MAX - 1))
    columns = days(first, last)
    begin = columns[0].start
    known = {hour: of for told in hourly for hour, of in told.hours.items()}
    cells = [cell for column in columns for cell in column.cells]
    filled = [column(known, each) for each in columns]
    return Heat(
        start=begin,
        minute=moment(begin).minute,
        picture=picture(filled, until),
        days=tuple(day(each, shown) for each in filled),
        told=",".join(word(of, said) for each in filled for of, said in zip(each.found, each.percents, strict=True)),
        odd=",".join(f"{place}:{cell.hours}" for place, cell in enumerate(cells) if cell.hours != 1),
        zones=",".join(f"{place}:{name}" for place, name in named(cells)),
        cut=first > window.start,
    )


def named(cells: Sequence[Cell]) -> Iterator[tuple[int, str]]:
    """Yield the first place of each stretch in which the zone has one name, and the name."""
    place = 0
    for name, same in groupby(cells, lambda cell: cell.zone):
        yield place, name
        place += len(list(same))


def column(known: Known, day: Day) -> Column:
    """Return a day with what is known of it."""
    found = tuple(of_cell(known, cell) for cell in day.cells)
    return Column(day, found, tuple(map(percent, found)))


def of_cell(known: Known, cell: Cell) -> Held:
    """Return what is known of an hour of the clock."""
    if cell.hours == 1:
        return known.get(cell.start, NOTHING)
    return together(known.get(hour, NOTHING) for hour in cell.instants)


def together(found: Iterable[Held]) -> Held:
    """Return the sum of some."""
    held, productive = 0, 0
    for of in found:
        held += of.held
        productive += of.productive
    return Held(held, productive)


def shade(of: Held) -> int:
    """Return the shade of an hour, NOT_HELD when nothing was held in it."""
    return bisect(SHADES, of.productive * 100 // of.held) if of.held else NOT_HELD


def picture(filled: Sequence[Column], until: int) -> Markup:
    """Return the SVG; its user units are days across and hours down."""
    paths: dict[int, list[str]] = {}
    running = ""
    for x, (day, found, _) in enumerate(filled):
        y = 0
        for depth, same in groupby(map(shade, found)):
            long = len(list(same))
            if depth != NOT_HELD:
                paths.setdefault(depth, []).append(f"M{x} {y}h1v{long}h-1z")
            y += long
        for row, cell in enumerate(day.cells if day.start <= until < day.end else ()):
            if cell.instants and cell.instants[0] <= until < cell.instants.stop:
                running = f'<path class="running" d="M{x} {row}h1v1h-1z"/>'
    drawn = "".join(f'<path class="h{depth}" d="{"".join(path)}"/>' for depth, path in sorted(paths.items()))
    return Markup(
        f'<svg class="heat-map" viewBox="0 0 {len(filled)} {HOURS}" preserveAspectRatio="none" width="100%" '
        f'aria-hidden="true">{drawn}{running}<path class="cursor" d=""/></svg>'
    )


def word(of: Held, percent: str) -> str:
    """Return what is told of an hour: "93|8.0"; "" where nothing was held."""
    return f"{percent}|{hours(of.held)}" if of.held else ""


def percent(of: Held) -> str:
    """Return goodput as whole percent, without the sign."""
    return str(rounded(of.productive * 100, of.held)) if of.held else ABSENT


def day(of: Column, shown: Shown) -> ShownDay:
    """Return a day of the table; an hour that its clock skipped has an empty cell."""
    total, day = together(of.found), of.day
    texts = (said if cell.hours else "" for said, cell in zip(of.percents, day.cells, strict=True))
    return ShownDay(
        start=day.start,
        name=day.date.strftime("%a %-d %b"),
        href=shown.link(range="custom", start=iso(day.start), end=iso(day.end)),
        cells=Markup("".join(f"<td>{text}</td>" for text in texts)),
        goodput=f"{percent(total)} %" if total.held else ABSENT,
        held=hours(total.held),
    )
