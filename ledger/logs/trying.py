"""A profile tried on pasted lines: what each line says, and the terms that come of all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ledger.logs.events import Event, Kind
from ledger.logs.matching import Match, Matcher
from ledger.logs.profiles import TIMED
from ledger.logs.reader import Text, matched
from ledger.logs.status import FORMULA, Measured, measure, rfc3339, status
from ledger.logs.streams import Stream, fold, with_last_lines

LINES_MAX = 5_000
SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it; `lines` are the first ones of those that say something, `counts` the matches by pattern."""

    lines: tuple[tuple[Text, tuple[Match, ...]], ...]
    read: int
    counts: dict[str, int]
    measured: Measured
    warnings: tuple[str, ...]


def trial(matcher: Matcher, lines: Sequence[bytes]) -> Trial:
    """Return what the lines say."""
    told = [(text, tuple(matches)) for text, matches in matched(matcher, lines) if matches or text.stamp is not None]
    said = [(text, matches) for text, matches in told if matches]
    counts = Counter(match.pattern for _, matches in said for match in matches)
    events = [match.event for _, matches in said for match in matches]
    times = [text.stamp for text, _ in told if text.stamp is not None] + [e.at for e in events if e.at is not None]
    newest = max(times, default=None)
    streams = [Stream(1, "", lambda: events, last_at=newest)]
    known = with_last_lines({}, streams)
    measured = measure(fold(matcher.profile, streams, known), known, newest)
    return Trial(tuple(said), len(lines), dict(counts), measured, tuple(warnings(matcher, len(lines), events, counts)))


def warnings(matcher: Matcher, read: int, events: Sequence[Event], counts: Counter[str]) -> list[str]:
    """Say what makes the result less than it could be."""
    profile, found = matcher.profile, []
    if profile.pattern("trainingStep") is not None and not counts["trainingStep"]:
        found.append(f"0 of {read:,} lines matched trainingStep")
    steps = [event for event in events if event.kind is Kind.STEP]
    if steps and all(event.at is None for event in steps):
        found.append(
            "no training step has an instant: capture a timestamp, or ship the log as it grows, which stamps its lines"
        )
    if steps and all(event.step is None for event in steps):
        found.append("no training step has a number: capture globalStep or iteration")
    numbers = [event.step for event in steps if event.step is not None]
    usual = Counter(b - a for a, b in zip(numbers, numbers[1:], strict=False) if b > a).most_common(1)
    if usual and usual[0][0] != profile.log_interval:
        found.append(f"steps go up by {usual[0][0]:,}, but logInterval is {profile.log_interval:,}")
    if profile.pattern("applicationStart") is not None and steps and not counts["applicationStart"]:
        found.append(f"0 of {read:,} lines matched applicationStart: the first step stands for it")
    return found


def line_as_json(text: Text, matches: Sequence[Match], matcher: Matcher) -> dict[str, Any]:
    """Return a line and what it says: each match with what it captured, in which unit, and its instant."""
    shown = text.line.decode("utf-8", "replace")
    return {
        "line": text.number + 1,
        "text": shown[:SHOWN_CHARACTERS],
        "matches": [
            {
                "pattern": match.pattern,
                "captured": match.captured,
                "units": units(match, matcher),
                "at": None if match.event.at is None else rfc3339(match.event.at),
                "problems": problems(match, matcher),
            }
            for match in matches
        ],
    }


def units(match: Match, matcher: Matcher) -> dict[str, str]:
    pattern = matcher.profile.pattern(match.pattern)
    assert pattern is not None, "a match is of one of the patterns"
    known = dict(pattern.units)
    return {name: known.get(name, "s") for name in match.captured if name in TIMED}


def problems(match: Match, matcher: Matcher) -> list[str]:
    said = ((name, matcher.problem(name, value)) for name, value in match.captured.items())
    return [f"{name} {why}" for name, why in said if why]


def trial_as_json(found: Trial, matcher: Matcher, shown: int = 1_000) -> dict[str, Any]:
    return {
        "read": found.read,
        "matched": found.counts,
        "warnings": list(found.warnings),
        "lines": [line_as_json(text, matches, matcher) for text, matches in found.lines[:shown]],
        "more": max(len(found.lines) - shown, 0),
        "formula": FORMULA,
        "status": status(found.measured, ended=True),
    }
