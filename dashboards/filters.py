"""The query string of a ledger page: read once into frozen values, and written again by every link of the page.

What cannot be understood is said in one sentence each, and its default stands in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_date, parse_datetime

from dashboards.moments import EPOCH, iso
from ledger.core.categories import Category
from ledger.core.windows import DAY, MAX_DAYS, Window, floor_hour
from ledger.queries import ANY, Filters
from ledger.viewers import ZONES

PAGE_ROWS = 50
PAGE_MAX = 100_000
TEXT_MAX = 253
YEARS = range(2000, 2101)
GROUPINGS = ("run", "machine", "pool", "workspace", "user")
LOSSES = tuple(category.label for category in Category if category is not Category.PRODUCTIVE)
SORTS = ("name", "held", "productive", "goodput", "lost", *LOSSES)
CHOICES = {
    "range": ("7d", "24h", "30d", "8w", "custom"),
    "by": GROUPINGS,
    "sort": ("-lost", *(way + sort for sort in SORTS for way in ("", "-") if sort != "lost" or not way)),
    "scale": ("same", "share"),
    "show": ("bars", "numbers"),
    "format": ("html", "csv", "json"),
    "unit": ("gpu_hours", "gpu_us"),
}
NARROWING = ("run", "machine", "pool", "user", "cluster")
SINCE_EVER = "all"
LENGTHS = {
    "24h": "24 hours",
    "7d": "7 days",
    "30d": "30 days",
    "8w": "8 weeks",
    "custom": "period",
    SINCE_EVER: "whole run",
}


class Problem(ValueError):
    """A part of the query string that cannot be understood; the message says why in one sentence."""


@dataclass(frozen=True)
class Shown:
    """What a ledger page shows. `start` and `end` are as they were given, for a custom range only.

    `usual` and `usual_by` are the page's range and grouping when its query string names none; `within` is what all
    of the page is about, as a machine's page is about that machine.
    """

    window: Window
    usual: str = "7d"
    usual_by: str = "run"
    within: Filters = ANY
    range: str = "7d"
    start: str = ""
    end: str = ""
    by: str = "run"
    run: str = ""
    machine: str = ""
    pool: str = ""
    user: str = ""
    cluster: str = ""
    q: str = ""
    sort: str = "-lost"
    page: int = 0
    scale: str = "same"
    show: str = "bars"
    format: str = "html"
    unit: str = "gpu_hours"
    problems: tuple[str, ...] = ()

    @property
    def filters(self) -> Filters:
        return replace(self.narrowed, q=self.q)

    @property
    def narrowed(self) -> Filters:
        """The filters without the search, which only thins the rows out."""
        return Filters(
            run=self.run,
            machine=self.within.machine or self.machine,
            pool=self.within.pool or self.pool,
            user=self.user,
        )

    @property
    def narrowings(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, getattr(self, name)) for name in NARROWING if getattr(self, name))

    @property
    def offset(self) -> int:
        return max(self.page - 1, 0) * PAGE_ROWS

    @property
    def category(self) -> Category | None:
        """The category that the rows are sorted by, if it is one."""
        name = self.sort.lstrip("-")
        return Category[name.upper()] if name in LOSSES else None

    @property
    def length(self) -> str:
        return LENGTHS[self.range]

    @cached_property
    def defaults(self) -> dict[str, str]:
        """What is not said in the query string, as it would be said there."""
        return DEFAULTS | {"range": self.usual, "by": self.usual_by}

    @cached_property
    def state(self) -> dict[str, str]:
        """The query string as a mapping, without what is as it is by default."""
        values = {name: str(getattr(self, name)) for name in STATE}
        said = {name: value for name, value in values.items() if value != self.defaults[name]}
        if self.range == "custom":
            del said["range"]
        return said

    def link(self, **changes: str | int) -> str:
        """Return the address of this page with something changed; any change but of the page goes to page 1."""
        changed = {**self.state, **{name: str(value) for name, value in changes.items()}}
        if "page" not in changes:
            changed.pop("page", None)
        if changes.get("range", "custom") != "custom":
            changed.pop("start", None)
            changed.pop("end", None)
        elif "range" in changes:
            del changed["range"]
        kept = {name: changed[name] for name in STATE if changed.get(name, "") not in ("", self.defaults[name])}
        return "?" + urlencode(kept)

    @property
    def period(self) -> str:
        """The query string of another page for the same hours and the same cluster."""
        return self.elsewhere(self.cluster)

    def elsewhere(self, cluster: str) -> str:
        """Return the query string of another page for the same hours, of a cluster alone; "": of all of them."""
        said = {name: value for name, value in self.state.items() if name in ("range", "start", "end")}
        said |= {"cluster": cluster} if cluster else {}
        return "?" + urlencode(said) if said else ""

    @property
    def fixed(self) -> str:
        """The address of these very hours, which does not move on with the clock."""
        here = replace(self, range="custom", start=iso(self.window.start), end=iso(self.window.end))
        return here.link()


NOT_STATE = ("window", "usual", "usual_by", "within", "problems")
STATE = tuple(field.name for field in fields(Shown) if field.name not in NOT_STATE)
DEFAULTS = {field.name: str(field.default) for field in fields(Shown) if field.name in STATE}


def shown(
    query: Mapping[str, str], now: int, whole: Window | None = None, by: str = "run", within: Filters = ANY
) -> Shown:
    """Read a query string; `now` in ms gives the relative ranges. Never fails: see `problems`.

    `whole`: the window of all there is, which is shown unless another range is asked for; `by`: the usual grouping.
    """
    reader = _Reader(query)
    ranges = (SINCE_EVER, *CHOICES["range"]) if whole else CHOICES["range"]
    choices = CHOICES | {"range": ranges, "by": (by, *(grouping for grouping in GROUPINGS if grouping != by))}
    chosen = {name: reader.choice(name, values) for name, values in choices.items()}
    texts = {name: reader.text(name) for name in (*NARROWING, "q")}
    page = reader.page()
    custom = reader.window(now)
    chosen["range"] = "custom" if custom else chosen["range"] if chosen["range"] != "custom" else ranges[0]
    of_range = whole if whole and chosen["range"] == SINCE_EVER else relative(chosen["range"], now)
    return Shown(
        window=custom or of_range,
        usual=ranges[0],
        usual_by=by,
        within=within,
        start=iso(custom.start) if custom else "",
        end=iso(custom.end) if custom else "",
        page=page,
        problems=tuple(reader.problems),
        **chosen,
        **texts,
    )


def relative(name: str, now: int) -> Window:
    """Return the window of a range's name; any but those known is seven days."""
    if name == "8w":
        return Window.last_weeks(now, 8)
    return Window.last_days(now, {"24h": 1, "30d": 30}.get(name, 7))


def instant(text: str, zone: tzinfo = UTC) -> int:
    """Return ms of an RFC 3339 instant or date, in `zone` where it names none. Raises Problem."""
    try:
        found = parse_datetime(text) or midnight(text)
    except ValueError as error:
        raise Problem(f"“{text[:40]}” is no day or time there is.") from error
    if found is None:
        raise Problem(f"“{text[:40]}” is not a time; write one like 2026-11-08T14:00Z.")
    if found.year not in YEARS:
        raise Problem(f"The year {found.year} is not between {YEARS[0]} and {YEARS[-1]}.")
    return (found.replace(tzinfo=found.tzinfo or zone) - EPOCH) // timedelta(milliseconds=1)


def midnight(text: str) -> datetime | None:
    """Return the beginning of a date, None for what is none. Raises ValueError for a day that no month has."""
    date = parse_date(text)
    return datetime(date.year, date.month, date.day) if date else None  # noqa: DTZ001  its zone is the reader's


def zone_named(name: str) -> tzinfo:
    """Return the zone that times without one are in: a form says it, for it sends local times. Raises Problem."""
    if name and name not in ZONES:
        raise Problem(f"“{name[:40]}” is not a time zone; write one like Europe/Paris.")
    return ZoneInfo(name) if name else UTC


def between(start: str, end: str, now: int, zone: tzinfo = UTC) -> Window:
    """Return the whole hours from `start` to `end`, which is now when it is left out. Raises Problem."""
    if not start:
        raise Problem("A range needs a start.")
    first, last = instant(start, zone), instant(end, zone) if end else now
    if last <= first:
        raise Problem("The range ends before it starts.")
    if last > floor_hour(first) + MAX_DAYS * DAY:
        raise Problem(f"A range has at most {MAX_DAYS} days.")
    return Window.around(first, last)


class _Reader:
    """Takes the values out of a query string and keeps what was wrong with them."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self.query = query
        self.problems: list[str] = []

    def choice(self, name: str, values: tuple[str, ...]) -> str:
        value = self.query.get(name) or values[0]
        if value in values:
            return value
        self.problems.append(f"“{value[:40]}” is not a value of {name}; it takes {', '.join(values)}.")
        return values[0]

    def text(self, name: str) -> str:
        value = self.query.get(name, "")
        if len(value) <= TEXT_MAX and "\0" not in value:
            return value
        self.problems.append(f"{name} takes at most {TEXT_MAX} characters, and none of them is NUL.")
        return ""

    def page(self) -> int:
        """Return the page asked for, 0 when none was."""
        value = self.query.get("page") or "0"
        if value.isascii() and value.isdigit() and len(value) < 9 and int(value) <= PAGE_MAX:
            return int(value)
        self.problems.append(f"“{value[:40]}” is not a page.")
        return 0

    def window(self, now: int) -> Window | None:
        """Return the window from start to end, None when neither is given or they cannot be understood."""
        start, end = (self.query.get(name, "").strip() for name in ("start", "end"))
        if not start and not end:
            return None
        try:
            return between(start, end, now, zone_named(self.query.get("zone", "")))
        except Problem as problem:
            self.problems.append(str(problem))
            return None
