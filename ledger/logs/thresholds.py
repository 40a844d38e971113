"""What a run must reach: `value >= 0.85` and its like, read by a grammar of one line; nothing is evaluated."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

FIGURES = {
    "goodputRatio": "result",
    "avgTFLOPsPerGPU": "avgTFLOPSPerGPU",
    "avgStepTimeSec": "avgStepTimeSec",
    "busBandwidthGBps": "busBandwidthGBps",
    "algBandwidthGBps": "algBandwidthGBps",
}
EXPRESSION = re.compile(r"\s*value\s*(>=|<=|==|!=|>|<)\s*([+-]?\d{1,18}(?:\.\d{1,18})?)\s*", re.ASCII)
CHARACTERS_MAX = 128
PASS, FAIL, NO_DATA, PENDING = "pass", "fail", "no data", "pending"


class BadThreshold(ValueError):
    """A key or an expression that there is not; the text says why in one sentence."""


class Condition(NamedTuple):
    """One comparison of a figure with a number."""

    sign: str
    number: Decimal

    def holds(self, value: Decimal) -> bool:
        return {
            ">=": value >= self.number, "<=": value <= self.number, "==": value == self.number,
            "!=": value != self.number, ">": value > self.number, "<": value < self.number,
        }[self.sign]  # fmt: skip


def parse(expression: Any) -> list[Condition]:
    """Return the comparisons of an expression, all of which must hold: joined by `and` or `&&`. Raises BadThreshold."""
    if not isinstance(expression, str) or not 0 < len(expression) <= CHARACTERS_MAX:
        raise BadThreshold(f"an expression is a text of 1 to {CHARACTERS_MAX} characters, like value >= 0.85")
    found = []
    for part in re.split(r"\band\b|&&", expression):
        match = EXPRESSION.fullmatch(part)
        if match is None:
            raise BadThreshold(
                f"{expression!r} is none: write value >= 0.85, also with >, <=, <, ==, != and joined by and"
            )
        found.append(Condition(match.group(1), Decimal(match.group(2))))
    return found


def check(thresholds: Any) -> dict[str, str]:
    """Return the thresholds of a run as they are kept. Raises BadThreshold for a key or an expression unknown."""
    if not isinstance(thresholds, Mapping):
        raise BadThreshold("thresholds are an object of figures and expressions")
    for key, expression in thresholds.items():
        if key not in FIGURES:
            raise BadThreshold(f"there is no figure {str(key)[:64]!r}; there are {', '.join(FIGURES)}")
        parse(expression)
    return {key: thresholds[key] for key in FIGURES if key in thresholds}


def judged(thresholds: Mapping[str, str], status: Mapping[str, Any], ended: bool) -> list[dict[str, Any]]:
    """Return each threshold with its figure and what came of it; they are judged when the run is over."""
    return [judge(key, expression, status.get(FIGURES[key]), ended) for key, expression in thresholds.items()]


def judge(key: str, expression: str, value: str | None, ended: bool) -> dict[str, Any]:
    outcome = PENDING if not ended else NO_DATA
    if ended and value is not None:
        try:
            outcome = PASS if all(one.holds(Decimal(value)) for one in parse(expression)) else FAIL
        except InvalidOperation:
            outcome = NO_DATA
    return {"figure": key, "expression": expression, "value": value, "outcome": outcome}
