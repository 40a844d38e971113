"""Ledgers in JSON and in CSV: one place that names the keys, and rounds each figure by itself from the integers.

Amounts are GPU-hours with six decimals, or with the unit gpu_us the integers themselves.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ledger.core.categories import Category
from ledger.core.costs import Cost, money
from ledger.core.totals import Ledger
from ledger.decode.values import iso
from ledger.queries import Answer, Costs, Row, Weeks
from ledger.writing.figures import AMOUNTS, Amount, Cells, cell, decimal, table


def ledger(of: Ledger, amount: Amount) -> dict[str, Any]:
    """Return a ledger; its goodput is left out when nothing was held."""
    figures: dict[str, Any] = {
        "gpu_hours": {category.label: amount(of.amounts[category]) for category in Category},
        "allocated_gpu_hours": amount(of.allocated),
        "productive_gpu_hours": amount(of.productive),
        "lost_gpu_hours": amount(of.lost),
        "waiting_gpu_hours": amount(of.waiting),
    }
    if of.goodput is not None:
        figures["goodput"] = decimal(of.goodput)
    return figures | {
        "held_gpu_hours": {category.label: amount(of.held[category]) for category in Category},
        "unobserved_gpu_hours": amount(of.unobserved),
        "unobserved_productive_gpu_hours": amount(of.unobserved_productive),
        "biggest_loss": None if of.biggest_loss is None else of.biggest_loss.label,
    }


def cost(of: Cost, amount: Amount) -> dict[str, Any]:
    """Return what GPU time held cost, in the currency, with 6 decimals, and the GPU time that has no price."""
    return {
        "cost": decimal(money(of.held)),
        "cost_not_productive": decimal(money(of.not_productive)),
        "unpriced_gpu_hours": amount(of.unpriced),
    }


def names(of: Row, by: str) -> dict[str, str]:
    """Return what a row is called."""
    more = {
        "run": {"uid": of.uid, "workspace": of.workspace},
        "machine": {"pool": of.pool, "cluster": of.cluster},
        "pool": {"cluster": of.cluster},
    }
    return {"name": of.name, **more.get(by, {})}


def rows(
    of: Iterable[Row], by: str, amount: Amount, costs: Costs | None = None, start: int = 0
) -> list[dict[str, Any]]:
    """Return rows: the names of each, then its ledger, then what it cost where prices are set."""
    return [names(row, by) | ledger(row.ledger, amount) | cost_of(row, costs, start, amount) for row in of]


def cost_of(row: Row, costs: Costs | None, start: int, amount: Amount) -> dict[str, Any]:
    return {} if costs is None else cost(costs.of(row.pk, row.name, start), amount)


def cost_of_all(costs: Costs | None, start: int | None, amount: Amount) -> dict[str, Any]:
    """Return what all rows of a window or of a week cost; of all weeks with None."""
    if costs is None:
        return {}
    return cost(costs.whole if start is None else costs.total(start), amount)


def envelope(answer: Answer, unit: str, following: str | None) -> dict[str, Any]:
    """Return one page of an answer; `following` is the address of the next one."""
    amount = AMOUNTS[unit]
    return _head(answer) | {
        "rows": rows(answer.rows, answer.by, amount, answer.costs, answer.window.start),
        "total": ledger(answer.total, amount) | cost_of_all(answer.costs, answer.window.start, amount),
        "next": following,
    }


def weekly(answer: Weeks, unit: str) -> dict[str, Any]:
    """Return an answer by ISO week, the first week first."""
    amount = AMOUNTS[unit]
    weeks = [
        {
            "start": iso(week.start),
            "end": iso(week.end),
            "partial": week.partial,
            "rows": rows(week.rows, answer.by, amount, answer.costs, week.start),
            "total": ledger(week.total, amount) | cost_of_all(answer.costs, week.start, amount),
            "count": week.count,
        }
        for week in answer.weeks
    ]
    return _head(answer) | {
        "weeks": weeks,
        "total": ledger(answer.total, amount) | cost_of_all(answer.costs, None, amount),
    }


def _head(answer: Answer | Weeks) -> dict[str, Any]:
    revised = {} if answer.revised_at is None else {"revised_at": iso(answer.revised_at)}
    return {
        "start": iso(answer.window.start),
        "end": iso(answer.window.end),
        "by": answer.by,
        "counted_until": iso(answer.counted_until),
        "complete": answer.complete,
        **revised,
        **({} if answer.costs is None else {"currency": answer.costs.currency}),
    }


def csv_of(answer: Answer, unit: str) -> str:
    """Return the rows of an answer as CSV; the total is what its columns add up to."""
    spread = _Spread(answer.by, unit, answer.costs)
    cells = (spread.cells(row, answer.window.start, answer.window.end) for row in answer.rows)
    return table(spread.columns, cells)


def weekly_csv_of(answer: Weeks, unit: str) -> str:
    """Return the rows of each week as CSV, the first week first; `start` and `end` are the week's."""
    spread = _Spread(answer.by, unit, answer.costs)
    cells = (spread.cells(row, week.start, week.end) for week in answer.weeks for row in week.rows)
    return table(spread.columns, cells)


class _Spread(NamedTuple):
    """How rows are laid out in a CSV."""

    by: str
    unit: str
    costs: Costs | None

    @property
    def columns(self) -> list[str]:
        return list(self.cells(Row("", "", "", "", Ledger()), 0, 0))

    def cells(self, row: Row, start: int, end: int) -> Cells:
        """Return a row by column, as it is written; what is absent is an empty cell."""
        amount = AMOUNTS[self.unit]
        written = ledger(row.ledger, amount)
        amounts = {
            key: value for key, value in written.items() if key.endswith("_gpu_hours") and key != "held_gpu_hours"
        }
        priced = {} if self.costs is None else {"currency": self.costs.currency}
        return {
            **{key: cell(name) for key, name in names(row, self.by).items()},
            "start": iso(start),
            "end": iso(end),
            **{key: cell(value) for key, value in amounts.items()},
            "goodput": cell(written.get("goodput")),
            "biggest_loss": cell(written["biggest_loss"]),
            **{f"gpu_hours.{label}": cell(value) for label, value in written["gpu_hours"].items()},
            **{f"held_gpu_hours.{label}": cell(value) for label, value in written["held_gpu_hours"].items()},
            **{key: cell(value) for key, value in (cost_of(row, self.costs, start, amount) | priced).items()},
        }
