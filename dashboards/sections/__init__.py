"""The parts of a run's page, from top to bottom: each a module here and a fragment in templates/dashboards.

A part of one's own: write `part(view: RunView)` that returns what its fragment needs, or None where it has nothing to
show, and add a line to SECTIONS. A fragment sees the page's context (place, run, shown, now) and its own part.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dashboards.sections import beside, details, figures, log_goodput, losses, progress, timeline, workers
from dashboards.sections.view import RunView

Context = Mapping[str, Any]


class Section(NamedTuple):
    """A part of the page; `part` takes a number of queries that does not depend on the run's size."""

    fragment: str
    part: Callable[[RunView], Context | None]


@dataclass(frozen=True)
class Part:
    """A section with what its fragment needs."""

    template: str
    context: Context


SECTIONS = (
    Section("_figures.html", figures.part),
    Section("_losses.html", losses.part),
    Section("_beside.html", beside.part),
    Section("_timeline.html", timeline.part),
    Section("_log_goodput.html", log_goodput.part),
    Section("_progress.html", progress.part),
    Section("_workers.html", workers.part),
    Section("_details.html", details.part),
    Section("_meaning.html", figures.meaning),
)


def parts_of(view: RunView) -> list[Part]:
    """Return the parts that have something to show, in their order."""
    found = ((section, section.part(view)) for section in SECTIONS)
    return [Part(f"dashboards/{section.fragment}", part) for section, part in found if part is not None]


__all__ = ["SECTIONS", "Context", "Part", "RunView", "Section", "parts_of"]
