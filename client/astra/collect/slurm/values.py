"""Single values of Slurm's output: numbers and words that changed their form from version to version, times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TypeVar

from astra.collect.slurm.hosts import numbers
from astra.collect.slurm.record import SECOND, Record

UNSET_FROM = 0xFFFFFF00  # Slurm's NO_VAL, INFINITE and the numbers of its special steps
YEAR_2000 = 946_684_800
UTC = timezone.utc
T = TypeVar("T")
DAYS = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")


def careful(make: Callable[[T], Iterable[Record]], item: T, notes: Counter[str]) -> list[Record]:
    """Return the records that an item makes; one that cannot be read is counted in `notes`."""
    try:
        return list(make(item))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        notes[f"record that cannot be read, left out ({type(error).__name__}: {error})"] += 1
        return []


def number(value: object) -> int | None:
    """Return 7 for 7, "7" and {"set": true, "infinite": false, "number": 7}; None for what is not set."""
    if isinstance(value, dict):
        return number(value.get("number")) if value.get("set") and not value.get("infinite") else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        value = int(value) if value.isdecimal() else None
    return int(value) if isinstance(value, (int, float)) and 0 <= value < UNSET_FROM else None


def instant(value: object) -> int | None:
    """Return ms of a number of seconds since 1970; None for 0, for what is not set and for what Slurm never saw."""
    told = number(value)
    return told * SECOND if told is not None and told >= YEAR_2000 else None


def words(value: object) -> tuple[str, ...]:
    """Return the words of a state: "RUNNING", ["COMPLETED", "COMPLETING"] or {"current": …}."""
    if isinstance(value, dict):
        return words(value.get("current"))
    if isinstance(value, str):
        return (value,)
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return a text as it is, "" for null and for numbers that stand where no text is."""
    return value if isinstance(value, str) else ""


def is_numbered_step(value: object) -> bool:
    """Whether it is a step that srun made: 0, "4101.0", {"step_id": 0}; not batch, extern or interactive."""
    if isinstance(value, dict):
        return is_numbered_step(value.get("step_id", value.get("id")))
    told = str(value).rsplit(".", 1)[-1]
    return told.isdecimal() and int(told) < UNSET_FROM


def tasks(value: object) -> Iterator[str]:
    """Yield the numbers of "4-6%3", "1,3,5-7", "0-8:4" and of a bitmap "0x70". Raises ValueError."""
    told = text(value).partition("%")[0].strip("[] ")
    if told.lower().startswith("0x"):
        bits = int(told, 16)
        yield from (str(place) for place in range(bits.bit_length()) if bits >> place & 1)
        return
    for part in filter(None, told.split(",")):
        span, _, step = part.partition(":")
        found = [str(int(each)) for each in numbers(span)]
        yield from found[:: int(step) if step.isdecimal() and int(step) else 1]


def clock(value: str | None, zone: tzinfo | None, *, second: bool = False) -> int | None:
    """Return ms of "2026-11-29T20:50:14" in a zone, of the same with an offset, or of seconds since 1970.

    Of an hour that comes twice the first one is meant, or the `second`. None for Unknown, None, N/A and "".
    Raises ValueError.
    """
    told = (value or "").strip()
    if told in ("", "Unknown", "None", "N/A", "(null)", "NONE"):
        return None
    if told.isdecimal():
        return instant(told)
    parsed = datetime.fromisoformat(told[:-1] + "+00:00" if told.endswith("Z") else told)
    if parsed.tzinfo is None:
        if zone is None:
            raise ValueError("its times have no zone: --timezone says which")
        parsed = parsed.replace(tzinfo=zone, fold=int(second))
    return int((parsed.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def seconds(value: str | None) -> int:
    """Return the seconds of "1-02:03:04", "02:03:04", "03:04" or "184"; 0 for what is none."""
    told = (value or "").strip()
    if told.isdecimal():
        return int(told)
    match = DAYS.fullmatch(told)
    if match is None:
        return 0
    days, hours, minutes, rest = (int(each or 0) for each in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest
