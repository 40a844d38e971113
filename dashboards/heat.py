"""The hours of a place as a heat map: a column a day, a row an hour of the day, the deeper the better its goodput.

Days and hours are those of the reader's clock. Drawn as one path a shade, so that eight weeks weigh little; read by a
screen reader as the table below it; the browser tells an hour's figures under the pointer and by the arrow keys out of
`told`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from dashboards.bars import Markup
from dashboards.calendar import HOURS, Cell, Day, days, days_before
from dashboards.filters import Shown
from dashboards.moments import iso, moment
from dashboards.numbers import ABSENT, hours
from ledger.core.totals import Ledger
from ledger.core.totals import percent as percentage
from ledger.core.windows import floor_hour

DAYS_MAX = 56
MARKS_MAX = 14
CLOCK = (0, 6, 12, 18, 24)
SHADES = (20, 40, 60, 80, 95)  # the least percent of goodput of the second shade and those after it
NOT_HELD = -1
type_known = Mapping[int, Ledger]


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


def heat(hourly: Iterable[tuple[int, Ledger]], shown: Shown, until: int) -> Heat:
    """Return the heat map of the last days that are shown; `until` (ms) is up to where they are counted."""
    window = shown.window
    last = floor_hour(max(min(window.end, until) - 1, window.start))
    first = max(window.start, days_before(last, DAYS_MAX - 1))
    columns = days(first, last)
    known = {hour: ledger for hour, ledger in hourly if hour >= columns[0].start and ledger.allocated}
    cells = [cell for column in columns for cell in column.cells]
    return Heat(
        start=columns[0].start,
        minute=moment(columns[0].start).minute,
        picture=picture(known, columns, until),
        days=tuple(day(known, column, shown) for column in columns),
        told=",".join(word(of_cell(known, cell)) for cell in cells),
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


def of_cell(known: type_known, cell: Cell) -> Ledger | None:
    """Return what is known of an hour of the clock; None where nothing was held in it."""
    found = [known[hour] for hour in cell.instants if hour in known]
    return sum(found, Ledger()) if found else None


def shade(goodput: Fraction | None) -> int:
    """Return the shade of an hour, NOT_HELD when nothing was held in it."""
    return NOT_HELD if goodput is None else sum(goodput * 100 >= least for least in SHADES)


def picture(known: type_known, columns: Sequence[Day], until: int) -> Markup:
    """Return the SVG; its user units are days across and hours down."""
    paths: dict[int, list[str]] = {}
    running = ""
    for x, column in enumerate(columns):
        y = 0
        for depth, same in groupby(shade_of(of_cell(known, cell)) for cell in column.cells):
            long = len(list(same))
            if depth != NOT_HELD:
                paths.setdefault(depth, []).append(f"M{x} {y}h1v{long}h-1z")
            y += long
        for row, cell in enumerate(column.cells):
            if cell.instants and cell.instants[0] <= until < cell.instants.stop:
                running = f'<path class="running" d="M{x} {row}h1v1h-1z"/>'
    drawn = "".join(f'<path class="h{depth}" d="{"".join(path)}"/>' for depth, path in sorted(paths.items()))
    return Markup(
        f'<svg class="heat-map" viewBox="0 0 {len(columns)} {HOURS}" preserveAspectRatio="none" width="100%" '
        f'aria-hidden="true">{drawn}{running}<path class="cursor" d=""/></svg>'
    )


def shade_of(ledger: Ledger | None) -> int:
    return NOT_HELD if ledger is None else shade(ledger.goodput)


def word(ledger: Ledger | None) -> str:
    """Return what is told of an hour: "93|8.0"; "" where nothing was held."""
    return "" if ledger is None else f"{whole(ledger)}|{hours(ledger.allocated)}"


def whole(ledger: Ledger) -> str:
    return percentage(ledger.goodput, ABSENT).removesuffix(" %")


def day(known: type_known, column: Day, shown: Shown) -> ShownDay:
    """Return a day of the table; an hour that its clock skipped has an empty cell."""
    found = [of_cell(known, cell) for cell in column.cells]
    total = sum((ledger for ledger in found if ledger), Ledger())
    texts = (
        (whole(ledger) if ledger else ABSENT) if cell.hours else ""
        for ledger, cell in zip(found, column.cells, strict=True)
    )
    return ShownDay(
        start=column.start,
        name=column.date.strftime("%a %-d %b"),
        href=shown.link(range="custom", start=iso(column.start), end=iso(column.end)),
        cells=Markup("".join(f"<td>{text}</td>" for text in texts)),
        goodput=percentage(total.goodput, ABSENT),
        held=hours(total.allocated),
    )
