"""What a source said of a run, word for word."""

from typing import Any

from dashboards.sections.view import RunView
from ledger import queries


def part(view: RunView) -> dict[str, Any]:
    """Return the run's labels that stand nowhere else."""
    return {
        "here": view.place.run(view.row.uid),
        "conditions": queries.run_conditions(view.run),
    }
