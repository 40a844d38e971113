"""Go's time layouts: from "2006-01-02 15:04:05,000" to a function that reads an instant."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LAYOUT_CHARACTERS_MAX = 128
TEXT_CHARACTERS_MAX = 128
NAMED = {
    "RFC3339": "2006-01-02T15:04:05Z07:00",
    "RFC3339Nano": "2006-01-02T15:04:05.999999999Z07:00",
    "DateTime": "2006-01-02 15:04:05",
}
COUNTED = {"Unix": 1_000_000, "UnixMilli": 1_000, "UnixMicro": 1, "UnixNano": 0}
MONTHS = ("January", "February", "March", "April", "May", "June", "July",
          "August", "September", "October", "November", "December")  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# the longest first: the reference time is Mon Jan 2 15:04:05 MST 2006
TOKENS = {
    "January": "(?P<B>" + "|".join(MONTHS) + ")",
    "Monday": "(?:" + "|".join(DAYS) + ")",
    "Z07:00": r"(?P<z>Z|[+-]\d\d:\d\d)",
    "-07:00": r"(?P<z>[+-]\d\d:\d\d)",
    "Z0700": r"(?P<z>Z|[+-]\d{4})",
    "-0700": r"(?P<z>[+-]\d{4})",
    "2006": r"(?P<Y>\d{4})",
    "-07": r"(?P<z>[+-]\d\d)",
    "002": r"(?P<j>\d{3})",
    "Jan": "(?P<B>" + "|".join(month[:3] for month in MONTHS) + ")",
    "Mon": "(?:" + "|".join(day[:3] for day in DAYS) + ")",
    "MST": "(?P<Z>UTC|GMT|Z)",
    "01": r"(?P<m>\d\d)",
    "02": r"(?P<d>\d\d)",
    "_2": r"(?P<d>[ \d]?\d)",
    "03": r"(?P<I>\d\d)",
    "04": r"(?P<M>\d\d)",
    "05": r"(?P<S>\d\d)",
    "06": r"(?P<y>\d\d)",
    "15": r"(?P<H>\d\d)",
    "PM": "(?P<p>AM|PM)",
    "pm": "(?P<p>am|pm)",
    "1": r"(?P<m>\d{1,2})",
    "2": r"(?P<d>\d{1,2})",
    "3": r"(?P<I>\d{1,2})",
    "4": r"(?P<M>\d{1,2})",
    "5": r"(?P<S>\d{1,2})",
}
TOKEN = re.compile("|".join(re.escape(token) for token in TOKENS) + r"|[.,](?:0+|9+)(?!\d)")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
Reader = Callable[[str], int]


class BadLayout(ValueError):
    """A layout that names no instant; the text says why in one sentence."""


@lru_cache(maxsize=256)
def compiled(layout: str, zone: str = "") -> Reader:
    """Return a function from a text in the layout to an instant in µs; it raises ValueError for another text.

    A layout without a zone is read in `zone` (an IANA name; "" = UTC). Besides Go's layouts there are the names
    of some of them, and Unix, UnixMilli, UnixMicro, UnixNano for counted time. Raises BadLayout.
    """
    if layout in COUNTED:
        return lambda text: counted(text, COUNTED[layout])
    layout = NAMED.get(layout, layout)
    if not layout or len(layout) > LAYOUT_CHARACTERS_MAX:
        raise BadLayout(f"a layout has 1 to {LAYOUT_CHARACTERS_MAX} characters")
    expression = re.compile(expression_of(layout), re.ASCII)
    has = set(expression.groupindex)
    has_day = "j" in has or ("d" in has and bool(has & {"m", "B"}))
    if not (has & {"Y", "y"} and has_day and has & {"H", "I"} and "M" in has):
        raise BadLayout("a layout needs a year, a month, a day, an hour and a minute, like 2006-01-02 15:04:05")
    home = zone_of(zone)

    def read(text: str) -> int:
        found = expression.fullmatch(text.strip()) if len(text) <= TEXT_CHARACTERS_MAX else None
        if found is None:
            raise ValueError(f"is not in the layout {layout}")
        return instant(found.groupdict(), home)

    return read


def expression_of(layout: str) -> str:
    """Return the regular expression of a layout. Raises BadLayout when a part stands in it twice."""
    parts: list[str] = []
    names: set[str] = set()
    last = 0
    for token in TOKEN.finditer(layout):
        text = token.group()
        part = TOKENS.get(text)
        if part is None:
            if parts and parts[-1].endswith(FRACTION):
                parts[-1] = parts[-1][: -len(FRACTION)]
                part = rf"(?:[.,](?P<f>\d{{{len(text) - 1}}}))" if "0" in text else FRACTION
            else:
                part = re.escape(text)
        elif text in ("05", "5"):
            part += FRACTION  # Go takes a fraction after the seconds whether the layout has one or not
        name = part[4:5] if part.startswith("(?P<") else ""
        if name and name in names:
            raise BadLayout(f"{text} says again what stands in the layout already")
        names.add(name)
        if token.start() > last:
            parts.append(re.escape(layout[last : token.start()]))
        parts.append(part)
        last = token.end()
    return "".join([*parts, re.escape(layout[last:])])


FRACTION = r"(?:[.,](?P<f>\d{1,12}))?"


def zone_of(name: str) -> tzinfo:
    """Raises BadLayout for a zone that there is not."""
    if not name or name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadLayout(f"there is no time zone {name!r}") from None


def instant(parts: dict[str, str | None], home: tzinfo) -> int:
    """Return the instant of the parts of a text in µs. Raises ValueError."""
    number = {name: int(text) for name, text in parts.items() if text and name in "YymdjHIMS"}
    year = number["Y"] if "Y" in number else 1900 + number["y"] + (100 if number["y"] < 69 else 0)
    month = month_of(parts.get("B")) or number.get("m", 1)
    moment = datetime(
        year, month, number.get("d", 1), hour_of(number, parts.get("p")), number["M"], number.get("S", 0),
        int((parts.get("f") or "")[:6].ljust(6, "0")), offset_of(parts.get("z") or parts.get("Z")) or home,
    )  # fmt: skip
    if "j" in number:
        moment += timedelta(days=number["j"] - 1)
    return (moment - EPOCH) // MICROSECOND


def month_of(text: str | None) -> int:
    return next((at for at, name in enumerate(MONTHS, 1) if text and name.startswith(text)), 0)


def hour_of(number: dict[str, int], half: str | None) -> int:
    if "H" in number:
        return number["H"]
    hour = number["I"]
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("is not a time of day")
    return hour % 12 + (12 if half.lower() == "pm" else 0)


def offset_of(text: str | None) -> tzinfo | None:
    if not text:
        return None
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(offset if text[0] == "+" else -offset)


def counted(text: str, microseconds: int) -> int:
    """Return the instant of a count of units since 1970, of which each has so many µs (0: a nanosecond)."""
    whole, _, part = text.strip().partition(".")
    if not (whole.isascii() and whole.isdecimal() and len(whole) <= 20) or (part and not part.isdecimal()):
        raise ValueError("is not a count of units since 1970")
    if microseconds == 0:
        at = int(whole) // 1_000
    else:
        at = int(whole) * microseconds
        if part and microseconds > 1:
            at += int(part[:6].ljust(6, "0")) * microseconds // 1_000_000
    if at > 4_102_444_800_000_000:
        raise ValueError("is after the year 2100")
    return at
