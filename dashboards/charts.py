"""Ledgers as Plotly figures. Colours are those of the light pages; the browser puts its own theme's in their place.

Described as plain data, which Plotly writes: its classes check each value against all that a figure may have, which
takes longer than the rest of a page. That they take a figure as it is, is a test.
"""

from typing import Any

import plotly.io

from dashboards.numbers import hours, share
from dashboards.weeks import ShownWeek
from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR, rounded

COLOURS = ("#009e73", "#f0e442", "#d55e00", "#56b4e9", "#0072b2", "#882255", "#cc79a7", "#bbbbbb")
SHAPES = ("", ".", "/", "|", "\\", "x", "-", ".")


def stacked(weeks: tuple[ShownWeek, ...]) -> str:
    """Return a stacked column per week, oldest first, as a figure in JSON; what is exact stands in its texts."""
    oldest_first = tuple(reversed(weeks))
    layout = {
        "template": {"data": {"scatter": [{"type": "scatter"}]}},  # none of Plotly's own
        "meta": [week.address for week in oldest_first],
        "barmode": "stack",
        "bargap": 0.35,
        "showlegend": False,
        "hovermode": "x unified",
        "height": 296,
        "margin": {"l": 64, "r": 8, "t": 16, "b": 58},
        "font": {"size": 12},
        "xaxis": {"type": "category", "fixedrange": True, "ticks": "", "showspikes": False},
        "yaxis": {
            "title": {"text": "GPU-hours"},
            "fixedrange": True,
            "rangemode": "tozero",
            "separatethousands": True,
        },
    }
    figure = {"data": [trace(category, oldest_first) for category in Category], "layout": layout}
    return str(plotly.io.to_json(figure, validate=False))


def trace(category: Category, weeks: tuple[ShownWeek, ...]) -> dict[str, Any]:
    """Return one category over the weeks; hovering tells its GPU-hours and its share of the week."""
    amounts = [week.total.ledger.amounts[category] for week in weeks]
    wholes = [week.total.ledger.asked for week in weeks]
    return {
        "type": "bar",
        "name": category.label,
        "meta": category.label,
        "x": [f"{week.name}<br>{week.days}{'<br>partial' if week.partial else ''}" for week in weeks],
        "y": [rounded(amount * 1000, GPU_US_PER_HOUR) / 1000 for amount in amounts],
        "hovertext": [
            f"{hours(amount)} GPU-hours, {share(amount, whole)}" for amount, whole in zip(amounts, wholes, strict=True)
        ],
        "hovertemplate": "%{hovertext}",
        "marker": {
            "color": COLOURS[category],
            "opacity": [0.6 if week.partial else 1 for week in weeks],
            "pattern": {
                "shape": SHAPES[category],
                "fgcolor": "rgba(0,0,0,0.55)",
                "fillmode": "overlay",
                "size": 6,
                "solidity": 0.25,
            },
        },
    }
