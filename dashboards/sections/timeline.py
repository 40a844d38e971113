"""The timeline of a run's workers: a lane each, or one for a group of many, which opens into those of its workers."""

from collections.abc import Sequence
from typing import Any

from dashboards.group_lanes import GROUP, column_of, group_pictures
from dashboards.lanes import Lane, axis, single_lanes
from dashboards.sections.view import RunView
from ledger import queries
from ledger.queries import Timed

SINGLE_MAX = 24  # more workers are folded into groups


def part(view: RunView) -> dict[str, Any]:
    """Return the lanes of the part of the time that is looked at."""
    found = queries.timed_workers(view.run, view.zoom.start, view.zoom.end)
    places = {worker.name: place for place, worker in enumerate(view.workers)}  # those are in their order already
    workers = sorted(found, key=lambda worker: (places.get(worker.name, len(places)), worker.name))
    lanes = singly(view, workers) if len(workers) <= SINGLE_MAX else folded(view, workers)
    return {"zoom": view.zoom, "lanes": lanes, "axis": axis(view.zoom, view.now)}


def until(view: RunView) -> int:
    """Return up to when what goes on is drawn."""
    return min(view.answer.counted_until, view.zoom.end)


def singly(view: RunView, workers: Sequence[Timed], *, in_group: bool = False) -> list[Lane]:
    """Return a lane a worker."""
    found = queries.segments(view.run, workers, view.zoom.start, view.zoom.end)
    told = [(worker.name, found.get(worker.name, ())) for worker in workers]
    return single_lanes(told, view.zoom, until(view), view.now, in_group=in_group)


def folded(view: RunView, workers: Sequence[Timed]) -> list[Lane]:
    """Return a lane for each group of workers, and after the one that is open those of its workers."""
    zoom, size = view.zoom, column_of(view.zoom.length)
    groups = [workers[first : first + GROUP] for first in range(0, len(workers), GROUP)]
    changes = queries.changes(groups, zoom.start, zoom.end, until(view), size)
    lanes: list[Lane] = []
    for number, (members, drawn) in enumerate(zip(groups, group_pictures(len(groups), changes, size), strict=True)):
        is_open = number == zoom.open
        name = f"{members[0].name} … {members[-1].name}"
        href = zoom.link(group=-1 if is_open else number)
        lanes.append(Lane(name, f"{len(members)} workers", drawn, href, is_open))
        lanes += singly(view, members, in_group=True) if is_open else []
    return lanes
