"""The five figures of a run and its whole bar; and at the end what the words mean."""

from typing import Any

from dashboards.bars import bar
from dashboards.figures import Measured
from dashboards.ledger_page import cost_of
from dashboards.rows import parts
from dashboards.sections.view import RunView


def part(view: RunView) -> dict[str, Any]:
    """Return the figures of the hours that are shown."""
    running = view.shown.window.start < view.answer.counted_until < view.shown.window.end
    return {
        "answer": view.answer,
        "partial": running and view.row.going,
        "figures": Measured(view.total, None, (), False, *cost_of(view.answer)).five(),
        "whole": view.total,
        "whole_bar": bar(view.total, view.total.asked),
        "parts": parts(view.total, view.shown),
    }


def meaning(view: RunView) -> dict[str, Any]:
    """Return what the words are explained by."""
    return {"parts": parts(view.total, view.shown), "whole": view.total, "answer": view.answer}
