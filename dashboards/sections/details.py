"""What a source said of a run, word for word."""

from fractions import Fraction
from typing import Any

from dashboards.numbers import decimal
from dashboards.sections.view import RunView
from ledger import queries
from ledger.queries import RunRow


def part(view: RunView) -> dict[str, Any]:
    """Return the run's labels that stand nowhere else."""
    return {
        "threshold": threshold(view.row, view.total.goodput),
        "here": view.place.run(view.row.uid),
        "conditions": queries.run_conditions(view.run),
    }


def threshold(run: RunRow, goodput: Fraction | None) -> str:
    """Say whether the run's least goodput is met; "" where none was set or nothing was held."""
    if run.min_goodput_milli is None or goodput is None:
        return ""
    least = Fraction(run.min_goodput_milli, 1000)
    return f"{'at or over' if goodput >= least else 'under'} the least goodput of {percent(least)}"


def percent(least: Fraction) -> str:
    """Return thousandths in percent, with the decimal that some have: what is compared is what is said."""
    return f"{decimal(least * 100).removesuffix('.0')} %"
