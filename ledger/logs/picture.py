"""What a page draws of a measurement: its terms from training time to productive time, and steps over time."""

from typing import Any

from ledger.logs.status import Measured


def picture(measured: Measured) -> dict[str, Any]:
    """Return integers of µs and points in order; None where an instant is not known."""
    fold, terms = measured.fold, measured.terms
    return {
        "training": terms.training,
        "lost": terms.lost,
        "reschedule": terms.reschedule,
        "resume": terms.resume,
        "saving": terms.saving,
        "start": measured.start,
        "end": measured.end,
        "steps": fold.series.points,
        "checkpoints": fold.checkpoints.points,
        "breaks": fold.breaks.points,
    }
