"""Log goodput of runs, for pages and metrics."""

from typing import Any

from ledger.measuring.answers import Answered, answer
from ledger.queries.runs import RunKey

__all__ = ["Answered", "figure", "measurement"]


def measurement(run: RunKey, now: int) -> Answered | None:
    """Return what a run's measurement says at `now` (ms); None when it has none."""
    return answer(run.id, now)


def figure(document: dict[str, Any], name: str) -> Any:
    """Return a figure of the status; None when it is absent."""
    return document["status"].get(name)
