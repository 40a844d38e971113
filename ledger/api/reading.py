"""Query strings, read strictly: what is not understood is refused, never guessed."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.http import QueryDict

from ledger.api.problems import Problem
from ledger.core.windows import MAX_DAYS, Window
from ledger.decode import values
from ledger.models.alerts import RULES
from ledger.queries import GROUPINGS, SORTS, Filters
from ledger.writing.figures import UNITS

LIMIT_MAX = 1_000
WORKERS_MAX = 20_000
LIMIT = 100
OFFSET_MAX = 2**31 - 1
DAYS = 7
WEEKS = 8
WEEKS_MAX = 57
FORMATS = ("json", "csv")
IN_CLUSTER = ("workspace", "run", "machine", "pool", "user", "q")
FILTERS = ("cluster", *IN_CLUSTER)
RUN_FILTERS = ("workspace", "user", "q")
STATES = ("going", "ended")
ALERT_STATES = ("firing", "resolved")
WORKER_STATES = ("stalled", "straggler")
_RELATIVE = ("days", "weeks")
_WINDOW = ("start", "end", *_RELATIVE)
_ALWAYS = 0, 4_133_980_800_000  # from the epoch to the end of the last year that an instant may lie in
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
    format: str


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """What is asked of one run's ledger; no window: since it was submitted."""

    window: Window | None
    unit: str
    format: str


@dataclass(frozen=True, slots=True)
class RunsQuestion:
    """Which runs are asked for, as far as one page goes; `going` None: those that ended, too."""

    filters: Filters
    going: bool | None
    limit: int
    offset: int
    format: str


@dataclass(frozen=True, slots=True)
class AlertsQuestion:
    """Which alerts are asked for, as far as one page goes; `firing` None: those that are over, too; `rule` "" = any."""

    firing: bool | None
    rule: str
    limit: int
    offset: int


def alerts_question(query: QueryDict) -> AlertsQuestion:
    """Read the query string of the list of alerts. Raises Problem."""
    given = known(query, ("state", "rule", "limit", "offset"))
    state = _choice(given, "state", ALERT_STATES, ALERT_STATES[0]) if "state" in given else ""
    return AlertsQuestion(
        firing=state == "firing" if state else None,
        rule=_choice(given, "rule", RULES, RULES[0]) if "rule" in given else "",
        limit=_limit(given),
        offset=_offset(given),
    )


def question(query: QueryDict, now: int, filters: tuple[str, ...] = FILTERS) -> Question:
    """Read the query string of a ledger; `now` (ms) gives windows that are relative. Raises Problem."""
    given = known(query, (*_WINDOW, "by", "sort", "unit", "limit", "offset", "format", *filters))
    return _question(given, _window(given, now), filters)


def weekly_question(query: QueryDict, now: int, filters: tuple[str, ...] = FILTERS) -> Question:
    """Read the query string of a ledger by week; the limit is of each week. Raises Problem."""
    given = known(query, ("weeks", "by", "sort", "unit", "limit", "format", *filters))
    return _question(given, Window.last_weeks(now, integer(given, "weeks", 1, WEEKS_MAX, WEEKS)), filters)


def run_question(query: QueryDict, now: int) -> RunQuestion:
    """Read the query string of one run's ledger. Raises Problem."""
    given = known(query, (*_WINDOW, "unit", "format"))
    window = _window(given, now) if any(name in given for name in _WINDOW) else None
    return RunQuestion(window, _unit(given), _format(given))


def runs_question(query: QueryDict) -> RunsQuestion:
    """Read the query string of the list of runs. Raises Problem."""
    given = known(query, (*RUN_FILTERS, "state", "limit", "offset", "format"))
    state = _choice(given, "state", STATES, STATES[0]) if "state" in given else ""
    return RunsQuestion(
        filters=_filters(given, RUN_FILTERS),
        going=state == "going" if state else None,
        limit=_limit(given),
        offset=_offset(given),
        format=_format(given),
    )


def page_of_workers(query: QueryDict) -> tuple[str, int, int]:
    """Read the query string of the list of workers: (state, limit, offset). Raises Problem."""
    given = known(query, ("state", "limit", "offset"))
    return _choice(given, "state", WORKER_STATES, ""), *page_of(given)


def page_of(given: Mapping[str, str]) -> tuple[int, int]:
    """Return (limit, offset). Raises Problem."""
    return _limit(given), _offset(given)


def between(query: QueryDict) -> tuple[int, int]:
    """Read [start, end) of a timeline, ms; neither needs to be said. Raises Problem."""
    given = known(query, ("start", "end"))
    start, end = (
        _valid(values.instant, given, name) if name in given else default
        for name, default in zip(("start", "end"), _ALWAYS, strict=True)
    )
    if end <= start:
        raise Problem(400, "The end must lie after the start.")
    return start, end


def _question(given: Mapping[str, str], window: Window, filters: Iterable[str]) -> Question:
    return Question(
        window=window,
        by=_choice(given, "by", GROUPINGS, "workspace"),
        filters=_filters(given, filters),
        sort=_choice(given, "sort", [way + sort for sort in SORTS for way in ("", "-")], "-lost"),
        unit=_unit(given),
        limit=_limit(given),
        offset=_offset(given),
        format=_format(given),
    )


def _filters(given: Mapping[str, str], names: Iterable[str]) -> Filters:
    said: dict[str, Any] = {name: _name(given, name) for name in names}
    return replace(Filters(), **said)


def _unit(given: Mapping[str, str]) -> str:
    return _choice(given, "unit", UNITS, UNITS[0])


def _format(given: Mapping[str, str]) -> str:
    return _choice(given, "format", FORMATS, FORMATS[0])


def _limit(given: Mapping[str, str]) -> int:
    return integer(given, "limit", 1, LIMIT_MAX, LIMIT)


def _offset(given: Mapping[str, str]) -> int:
    return integer(given, "offset", 0, OFFSET_MAX, 0)


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
