"""Reads fields of objects as they come from the API server: what is missing or of another shape reads as absent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

Raw = Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NOTHING: Raw = {}


class BadObject(ValueError):
    """An object without what every object has; the text says what."""


def at(raw: object, *path: str) -> Any:
    """Return the value at a path of keys, None when a part of it is missing."""
    for key in path:
        if not isinstance(raw, Mapping):
            return None
        raw = raw.get(key)
    return raw


def mapping(raw: object, *path: str) -> Raw:
    found = at(raw, *path)
    return found if isinstance(found, Mapping) else _NOTHING


def items(raw: object, *path: str) -> list[Raw]:
    """Return the objects of a list."""
    found = at(raw, *path)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(raw: object, *path: str) -> str:
    found = at(raw, *path)
    return found if isinstance(found, str) else ""


def texts(raw: object, *path: str) -> dict[str, str]:
    """Return a mapping of texts: labels, annotations, a node selector."""
    return {key: value for key, value in mapping(raw, *path).items() if isinstance(value, str)}


def count(raw: object, *path: str) -> int | None:
    """Return a number that counts, None when it is missing or is none."""
    found = at(raw, *path)
    if isinstance(found, bool):
        return None
    if isinstance(found, str) and found.isascii() and found.isdigit():
        return int(found)
    return found if isinstance(found, int) and found >= 0 else None


def instant(raw: object, *path: str) -> int | None:
    """Return UTC ms of an RFC 3339 time, None when it is missing or is none."""
    found = at(raw, *path)
    return ms(found) if isinstance(found, str) else None


def ms(written: str) -> int | None:
    """Return UTC ms of an RFC 3339 time; parts of a millisecond are cut off."""
    body = written.strip()
    if body.endswith(("Z", "z")):
        body = body[:-1] + "+00:00"
    head, dot, rest = body.partition(".")
    if dot:
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        body = f"{head}.{digits[:6].ljust(6, '0')}{rest[len(digits) :]}"
    try:
        found = datetime.fromisoformat(body)
    except ValueError:
        return None
    return None if found.tzinfo is None else ms_of(found)


def ms_of(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment(instant_ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=instant_ms)


def iso(instant_ms: int) -> str:
    """Return an instant as the interface has it: RFC 3339 in UTC with milliseconds."""
    return moment(instant_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")
