"""Ledgers as the interface writes them: every figure rounded by itself, from integers, and never a float."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from msgspec import Raw

from ledger.core.categories import Category
from ledger.core.totals import Ledger, gpu_hours
from ledger.decode.values import iso
from ledger.queries import Answer, Row

DECIMALS = 6
Amount = Callable[[int], Raw | str]


def in_hours(gpu_us: int) -> Raw:
    """Return GPU-microseconds as a JSON number of GPU-hours with 6 decimals."""
    return Raw(gpu_hours(gpu_us, DECIMALS).encode())


def in_microseconds(gpu_us: int) -> str:
    """Return GPU-microseconds as a text of digits, which no reader of JSON rounds."""
    return str(gpu_us)


AMOUNTS: dict[str, Amount] = {"gpu_hours": in_hours, "gpu_us": in_microseconds}


def ratio(value: Fraction) -> Raw:
    """Return a ratio from 0 to 1 as a JSON number with 6 decimals."""
    whole, part = divmod(round(value * 10**DECIMALS), 10**DECIMALS)
    return Raw(f"{whole}.{part:0{DECIMALS}d}".encode())


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


def row(of: Row, by: str, amount: Amount) -> dict[str, Any]:
    """Return a row: its names, then its ledger."""
    names = {"name": of.name}
    if by == "run":
        names |= {"uid": of.uid, "workspace": of.workspace}
    if by == "machine":
        names |= {"pool": of.pool}
    return names | ledger(of.ledger, amount)


def envelope(answer: Answer, unit: str, following: str | None) -> dict[str, Any]:
    """Return one page of an answer; `following` is the address of the next one."""
    amount = AMOUNTS[unit]
    revised = {} if answer.revised_at is None else {"revised_at": iso(answer.revised_at)}
    return {
        "start": iso(answer.window.start),
        "end": iso(answer.window.end),
        "by": answer.by,
        "counted_until": iso(answer.counted_until),
        "complete": answer.complete,
        **revised,
        "rows": [row(of, answer.by, amount) for of in answer.rows],
        "total": ledger(answer.total, amount),
        "next": following,
    }
