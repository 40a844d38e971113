"""A run beside the other runs of its workspace in the same hours: its goodput and what it lost against their median."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from dashboards.numbers import decimal, signed
from dashboards.sections.view import RunView
from ledger import queries
from ledger.core.categories import Category
from ledger.core.totals import Ledger

OTHERS_MAX = 500
OTHERS_MIN = 3  # the median of fewer says nothing
LOSSES = [category for category in Category if category is not Category.PRODUCTIVE]


@dataclass(frozen=True)
class Beside:
    """One figure beside the others': shares as texts, by how many points it differs, and how many of them do better.

    `is_worse`: it is further from good than the median.
    """

    label: str
    own: str
    median: str
    difference: str
    better: int
    is_worse: bool
    is_biggest: bool


def part(view: RunView) -> dict[str, Any] | None:
    """Return the run beside those that held most; None where too few others held anything."""
    found = queries.goodput(view.scope, view.shown.window, "run", sort="-held", limit=OTHERS_MAX + 1)
    others = [row.ledger for row in found.rows if row.uid != view.row.uid and row.ledger.allocated][:OTHERS_MAX]
    if view.total.goodput is None or len(others) < OTHERS_MIN:
        return None
    goodputs = [other.goodput for other in others if other.goodput is not None]
    biggest = max(LOSSES, key=lambda category: view.total.amounts[category])
    rows = [beside("goodput", view.total.goodput, goodputs, more_is_better=True)]
    rows += [
        beside(category.label, lost(view.total, category), [lost(other, category) for other in others],
               is_biggest=category is biggest)
        for category in LOSSES
        if view.total.amounts[category]
    ]  # fmt: skip
    cut = found.count - len(found.rows)
    return {"beside": rows, "others": len(others), "others_cut": max(cut, 0), "window": view.shown.window}


def lost(ledger: Ledger, category: Category) -> Fraction:
    """Return the share of a category in all that was asked for."""
    return Fraction(ledger.amounts[category], ledger.asked)


def beside(
    label: str, own: Fraction, others: Sequence[Fraction], *, more_is_better: bool = False, is_biggest: bool = False
) -> Beside:
    """Return a figure beside those of the others, of which there is at least one."""
    middle = median(others)
    return Beside(
        label=label,
        own=f"{decimal(own * 100)} %",
        median=f"{decimal(middle * 100)} %",
        difference=f"{signed((own - middle) * 100)} points",
        better=sum(other > own if more_is_better else other < own for other in others),
        is_worse=own < middle if more_is_better else own > middle,
        is_biggest=is_biggest,
    )
