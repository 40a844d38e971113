"""Single values: names, instants, GPUs, percent, steps. Each raises ValueError with a sentence that can be shown."""

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgspec import UNSET

NAME_CHARACTERS_MAX = 253
GPUS_MAX = 4_096
ATTEMPT_MAX = 1_000_000
DEVICES_MAX = 64
STEP_MAX = 2**53 - 1
STEP_SECONDS_MAX = 1_000_000
CONDITIONS_MAX = 32
MESSAGE_CHARACTERS_MAX = 1_000
YEAR_MIN = 2000
YEAR_MAX = 2100

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_POD = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}/[a-z0-9][a-z0-9.-]{0,252}")
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/-]{0,99}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EARLIEST = (date(YEAR_MIN, 1, 1).toordinal() - _EPOCH_DAY) * 86_400_000
_LATEST = (date(YEAR_MAX + 1, 1, 1).toordinal() - _EPOCH_DAY) * 86_400_000
_BLANK_TEXTS = frozenset({"", "n/a", "nan"})
# DCGM's blank, not found, not supported and not permitted, as 32 and 64 bit integers and as doubles.
_BLANK_NUMBERS = frozenset(
    [2**31 - 16 + i for i in range(4)] + [2**63 - 16 + i for i in range(4)] + [2**47 + i for i in range(4)] + [2**63]
)


def name(text: str) -> str:
    """Return the text in NFC: 1 to 253 characters, none of them a control character."""
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFC", text)
        if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text):
            raise ValueError("must not have control characters")
    if not 1 <= len(text) <= NAME_CHARACTERS_MAX:
        raise ValueError(f"must have 1 to {NAME_CHARACTERS_MAX} characters")
    return text


def pod(text: str) -> str:
    """Return the namespace and the name of a pod, with a slash between them; "" for none."""
    if text and not _POD.fullmatch(text):
        raise ValueError("must be a namespace and the name of a pod, like vision/llm-worker-0")
    return text


def devices(texts: list[str]) -> tuple[str, ...]:
    """Return what the GPUs of a worker are called on their machine: their numbers or UUIDs."""
    if len(texts) > DEVICES_MAX:
        raise ValueError(f"must name at most {DEVICES_MAX} devices")
    if not all(map(_DEVICE.fullmatch, texts)):
        raise ValueError('must be numbers or UUIDs of GPUs, like ["0", "GPU-5fd4…"]')
    return tuple(texts)


def instant(text: str) -> int:
    """Return UTC ms of an RFC 3339 instant with a zone; digits below a millisecond are cut off."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("must be an instant with a zone, like 2026-10-01T12:00:00Z")
    year, month, day, hour, minute, second, fraction, sign, off_hour, off_minute = match.groups()
    h, m, s = int(hour), int(minute), int(second)
    if h > 23 or m > 59 or s > 59:
        raise ValueError("is not a time of day")
    offset = 0
    if sign is not None:
        offset = int(off_hour) * 60 + int(off_minute)
        if int(off_hour) > 23 or int(off_minute) > 59:
            raise ValueError("has a zone that does not exist")
        offset = -offset if sign == "-" else offset
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _EPOCH_DAY
    except ValueError:
        raise ValueError("is not a day of the calendar") from None
    at = ((days * 24 + h) * 60 + m - offset) * 60_000 + s * 1_000
    if fraction is not None:
        at += int(fraction[:3].ljust(3, "0"))
    if not _EARLIEST <= at < _LATEST:
        raise ValueError(f"must lie in the years {YEAR_MIN} to {YEAR_MAX}")
    return at


def iso(at: int) -> str:
    """Return an instant in ms as RFC 3339 in UTC, with its milliseconds where there are any."""
    moment = _EPOCH + timedelta(milliseconds=at)
    text = moment.isoformat(timespec="milliseconds" if at % 1_000 else "seconds")
    return text.replace("+00:00", "Z")


def few(count: int, most: int, what: str) -> None:
    """Raise ValueError for more of something than there may be."""
    if count > most:
        raise ValueError(f"must be at most {most} {what}")


def message(text: str) -> str:
    """Return a text that people are shown, in NFC, its line ends as spaces; it may be empty."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if len(text) > MESSAGE_CHARACTERS_MAX:
        raise ValueError(f"must have messages of at most {MESSAGE_CHARACTERS_MAX} characters")
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text):
        raise ValueError("must have messages without control characters")
    return text


def thousandths(value: int | float, limit: int, what: str) -> int:
    """Return exact thousandths of a number in 0…limit with at most 3 decimals."""
    if not 0 <= value <= limit:
        raise ValueError(f"must be {what} from 0 to {limit}")
    milli = round(value * 1000)
    if milli / 1000 != value:
        raise ValueError("must have at most 3 decimals")
    return milli


def gpus(value: int | float) -> int:
    """Return milli-GPUs."""
    return thousandths(value, GPUS_MAX, "a number of GPUs")


def ratio(value: int | float) -> int:
    """Return a part of one in thousandths."""
    return thousandths(value, 1, "a ratio")


def number(value: Any) -> int | float | None:
    """Return a sample's number; None for null, for what exporters write when they have none, and when left out."""
    if value is UNSET or value is None:
        return None
    if isinstance(value, str):
        if value.strip().lower() in _BLANK_TEXTS:
            return None
        raise ValueError("must be a number")
    assert isinstance(value, int | float), "the wire types let nothing else through"
    return value


def busy(raw: Any) -> int | None:
    """Return thousandths of a percent, floored (4.9999 is below 5); None for what is no reading."""
    value = number(raw)
    if value is None or value in _BLANK_NUMBERS:
        return None
    if not 0 <= value <= 100:
        raise ValueError("must be a percentage from 0 to 100")
    milli = round(value * 1000)  # the double nearest to 1.001 times 1000 lies below 1001
    return milli - 1 if milli / 1000 > value else milli


def step(value: int | float) -> int:
    """Return a training step, an integer from 0 on."""
    if not (isinstance(value, int) and 0 <= value <= STEP_MAX):
        raise ValueError(f"must be an integer from 0 to {STEP_MAX}")
    return value


def step_ms(value: int | float) -> int:
    """Return the duration of a step in ms, rounded."""
    if not 0 <= value <= STEP_SECONDS_MAX:
        raise ValueError(f"must be seconds from 0 to {STEP_SECONDS_MAX}")
    return round(value * 1000)


def attempt(value: int) -> int:
    """Return the number of an attempt, counted from 1."""
    if not 1 <= value <= ATTEMPT_MAX:
        raise ValueError(f"must be an integer from 1 to {ATTEMPT_MAX}")
    return value


def ordered(earlier: int | None, later: int, field: str) -> None:
    """Raise ValueError when an instant that is given lies after that of `field`."""
    if earlier is not None and earlier > later:
        raise ValueError(f"must not be after {field}")


def belongs(value: int | None, to: int | None, what: str) -> None:
    """Raise ValueError when a value is given without what it belongs to."""
    if value is not None and to is None:
        raise ValueError(f"needs {what}")
