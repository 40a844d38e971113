"""The timeline of a run's workers: a lane each, or one for a group of many."""

from typing import Any

from dashboards.lanes import axis, lanes
from dashboards.sections.view import RunView
from ledger import queries


def part(view: RunView) -> dict[str, Any]:
    """Return the lanes of the part of the time that is looked at."""
    found = queries.timeline(view.run, view.zoom.start, view.zoom.end)
    return {"zoom": view.zoom, "lanes": lanes(found, view.zoom, view.now), "axis": axis(view.zoom, view.now)}
