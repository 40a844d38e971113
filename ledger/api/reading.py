"""Query strings, read strictly: what is not understood is refused, never guessed."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.http import QueryDict

from ledger.api.problems import Problem
from ledger.core.windows import MAX_DAYS, Window
from ledger.decode import values
from ledger.queries import GROUPINGS, SORTS, Filters

LIMIT_MAX = 1_000
LIMIT = 100
OFFSET_MAX = 2**31 - 1
DAYS = 7
WEEKS_MAX = 57
UNITS = ("gpu_hours", "gpu_us")
FILTERS = ("workspace", "run", "machine", "pool", "user", "q")
_RELATIVE = ("days", "weeks")
Value = TypeVar("Value")
_DIGITS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the ledgers, as far as one page of the answer goes."""

    window: Window
    by: str
    filters: Filters
    sort: str
    unit: str
    limit: int
    offset: int


def question(query: QueryDict, now: int) -> Question:
    """Read the query string of a ledger; `now` (ms) gives windows that are relative. Raises Problem."""
    given = known(query, ("by", "start", "end", "days", "weeks", "sort", "unit", "limit", "offset", *FILTERS))
    return Question(
        window=_window(given, now),
        by=_choice(given, "by", GROUPINGS, "workspace"),
        filters=Filters(**{name: _name(given, name) for name in FILTERS}),
        sort=_choice(given, "sort", [way + sort for sort in SORTS for way in ("", "-")], "-lost"),
        unit=_choice(given, "unit", UNITS, UNITS[0]),
        limit=integer(given, "limit", 1, LIMIT_MAX, LIMIT),
        offset=integer(given, "offset", 0, OFFSET_MAX, 0),
    )


def known(query: QueryDict, names: Iterable[str]) -> dict[str, str]:
    """Return the parameters by name. Raises Problem for one that there is not, or that is said twice."""
    allowed = set(names)
    for name, said in query.lists():
        if name not in allowed:
            raise Problem(400, f"There is no such parameter; there are {', '.join(sorted(allowed))}.")
        if len(said) > 1:
            raise Problem(400, f"The parameter {name} is said twice.")
    return {name: said[0] for name, said in query.lists()}


def integer(given: Mapping[str, str], name: str, least: int, most: int, default: int) -> int:
    """Return a whole number in [least, most]. Raises Problem."""
    text = given.get(name)
    if text is None:
        return default
    if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
        raise Problem(400, f"{name} must be a whole number from {least} to {most}.")
    return int(text)


def _choice(given: Mapping[str, str], name: str, choices: Iterable[str], default: str) -> str:
    text = given.get(name, default)
    if text not in (allowed := list(choices)):
        raise Problem(400, f"{name} must be one of {', '.join(allowed)}.")
    return text


def _name(given: Mapping[str, str], name: str) -> str:
    return _valid(values.name, given, name) if given.get(name) else ""


def _valid(judge: Callable[[str], Value], given: Mapping[str, str], name: str) -> Value:
    try:
        return judge(given[name])
    except ValueError as error:
        raise Problem(400, f"{name} {error}.") from None


def _window(given: Mapping[str, str], now: int) -> Window:
    said = [name for name in ("start", "end", *_RELATIVE) if name in given]
    relative = [name for name in said if name in _RELATIVE]
    if relative and len(said) > 1:
        raise Problem(400, f"Say either start and end, or days, or weeks; these are {' and '.join(said)}.")
    if "weeks" in given:
        return Window.last_weeks(now, integer(given, "weeks", 1, WEEKS_MAX, 1))
    if relative or not said:
        return Window.last_days(now, integer(given, "days", 1, MAX_DAYS, DAYS))
    if "start" not in given:
        raise Problem(400, "An end needs a start.")
    start = _valid(values.instant, given, "start")
    end = _valid(values.instant, given, "end") if "end" in given else now
    try:
        return Window.around(start, end)
    except ValueError as error:
        raise Problem(400, f"This window cannot be: {error}.") from None
