"""Ledgers in JSON and in CSV: one place that names the keys, and rounds each figure by itself from the integers.

Amounts are GPU-hours with six decimals, or with the unit gpu_us the integers themselves.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.decode.values import iso
from ledger.queries import Answer, Row, Week, Weeks
from ledger.writing.figures import AMOUNTS, Amount, Cells, cell, ratio, table


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
        figures["goodput"] = ratio(of.goodput)
    return figures | {
        "held_gpu_hours": {category.label: amount(of.held[category]) for category in Category},
        "unobserved_gpu_hours": amount(of.unobserved),
        "unobserved_productive_gpu_hours": amount(of.unobserved_productive),
        "biggest_loss": None if of.biggest_loss is None else of.biggest_loss.label,
    }


def names(of: Row, by: str) -> dict[str, str]:
    """Return what a row is called."""
    more = {"run": {"uid": of.uid, "workspace": of.workspace}, "machine": {"pool": of.pool}}
    return {"name": of.name, **more.get(by, {})}


def rows(of: Iterable[Row], by: str, amount: Amount) -> list[dict[str, Any]]:
    """Return rows: the names of each, then its ledger."""
    return [names(row, by) | ledger(row.ledger, amount) for row in of]


def envelope(answer: Answer, unit: str, following: str | None) -> dict[str, Any]:
    """Return one page of an answer; `following` is the address of the next one."""
    amount = AMOUNTS[unit]
    return _head(answer) | {
        "rows": rows(answer.rows, answer.by, amount),
        "total": ledger(answer.total, amount),
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
            "rows": rows(week.rows, answer.by, amount),
            "total": ledger(week.total, amount),
            "count": week.count,
        }
        for week in answer.weeks
    ]
    return _head(answer) | {"weeks": weeks, "total": ledger(answer.total, amount)}


def _head(answer: Answer | Weeks) -> dict[str, Any]:
    revised = {} if answer.revised_at is None else {"revised_at": iso(answer.revised_at)}
    return {
        "start": iso(answer.window.start),
        "end": iso(answer.window.end),
        "by": answer.by,
        "counted_until": iso(answer.counted_until),
        "complete": answer.complete,
        **revised,
    }


def csv_of(answer: Answer, unit: str) -> str:
    """Return the rows of an answer as CSV; the total is what its columns add up to."""
    window = (iso(answer.window.start), iso(answer.window.end))
    return table(_columns(answer.by), (_cells(row, answer.by, *window, unit) for row in answer.rows))


def weekly_csv_of(answer: Weeks, unit: str) -> str:
    """Return the rows of each week as CSV, the first week first; `start` and `end` are the week's."""
    return table(_columns(answer.by), (cells for week in answer.weeks for cells in _week(week, answer.by, unit)))


def _week(week: Week, by: str, unit: str) -> Iterator[Cells]:
    return (_cells(row, by, iso(week.start), iso(week.end), unit) for row in week.rows)


def _columns(by: str) -> list[str]:
    return list(_cells(Row("", "", "", "", Ledger()), by, "", "", "gpu_us"))


def _cells(row: Row, by: str, start: str, end: str, unit: str) -> Cells:
    """Return a row by column, as it is written; what is absent is an empty cell."""
    written = ledger(row.ledger, AMOUNTS[unit])
    amounts = {key: value for key, value in written.items() if key.endswith("_gpu_hours") and key != "held_gpu_hours"}
    return {
        **{key: cell(name) for key, name in names(row, by).items()},
        "start": start,
        "end": end,
        **{key: cell(value) for key, value in amounts.items()},
        "goodput": cell(written.get("goodput")),
        "biggest_loss": cell(written["biggest_loss"]),
        **{f"gpu_hours.{label}": cell(value) for label, value in written["gpu_hours"].items()},
        **{f"held_gpu_hours.{label}": cell(value) for label, value in written["held_gpu_hours"].items()},
    }
