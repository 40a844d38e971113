"""What the tests of faults and cases say of a ledger: its amounts in GPU-hours, and that it is sound."""

from fractions import Fraction
from typing import Any

from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR, Ledger
from tests.ledger.conftest import East


def gpu_hours(ledger: Ledger) -> dict[str, Any]:
    """Return the GPU-hours of each category that has any, and of what was unobserved."""
    amounts = {c.label: amount for c, amount in zip(Category, ledger.amounts, strict=True)}
    amounts["unobserved"] = ledger.unobserved
    return {name: number(amount) for name, amount in amounts.items() if amount}


def number(amount: int) -> Any:
    """Return an amount in GPU-hours, exact."""
    return Fraction(amount, GPU_US_PER_HOUR)


def held(ledger: Ledger) -> Any:
    return number(ledger.allocated)


def total(east: East, start: str, end: str, **filters: str) -> dict[str, Any]:
    return gpu_hours(east.goodput(start, end, **filters).total)


def by(east: East, grouping: str, start: str, end: str) -> dict[str, dict[str, Any]]:
    """Return the GPU-hours of each row by its name; rows of one name must not be asked for."""
    rows = east.goodput(start, end, grouping).rows
    assert len({row.name for row in rows}) == len(rows), "two rows have one name"
    return {row.name: gpu_hours(row.ledger) for row in rows}


def sound(east: East, now: str) -> list[str]:
    """Assert that check finds no difference at `now`, and return the machines that are overcommitted."""
    findings = east.check(now)
    assert findings.differences == []
    return findings.overcommitted
