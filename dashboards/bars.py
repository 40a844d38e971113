"""Where a row's time went, as an SVG bar with its words.

Made by f-string, for a template's loop is far slower; so nothing may get in that is not a number or a word of
this project. The one exception, a row's address, is escaped here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.html import escape

from dashboards.numbers import hours, share
from ledger.core.categories import Category
from ledger.core.totals import Ledger

WIDTH = 100_000  # a bar's whole width, in thousandths of a percent
GAP = 700  # what parts the time held from the time not held


class Markup(str):
    """Text that is HTML already, for templates."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


class Segment(NamedTuple):
    """A piece of a bar: `x` and `width` in thousandths of a percent, `amount` in GPU-microseconds."""

    category: Category
    held: bool
    amount: int
    x: int
    width: int


def segments(ledger: Ledger, full: int) -> Iterator[Segment]:
    """Yield the pieces of a bar on which `full` GPU-microseconds take the whole width less the gap.

    The time held comes first, in the order of the categories; after the gap comes the time not held. Edges are
    rounded, not widths, so that the widths of the pieces always add up to that of their sum.
    """
    room, total = WIDTH - GAP, 0
    for held in (True, False):
        for category in Category:
            amount = ledger.held[category] if held else ledger.amounts[category] - ledger.held[category]
            if amount:
                start, total = total * room // full, total + amount
                yield Segment(category, held, amount, start + (0 if held else GAP), total * room // full - start)


def percent(thousandths: int) -> str:
    """Return thousandths of a percent as SVG takes them: 12500 → "12.5%"."""
    return f"{thousandths / 1000:.3f}".rstrip("0").rstrip(".") + "%"


def described(ledger: Ledger) -> str:
    """Say a bar in words."""
    said = "; ".join(
        f"{category.label} {hours(amount)} GPU-hours, {share(amount, ledger.asked)}"
        for category, amount in zip(Category, ledger.amounts, strict=True)
        if amount
    )
    if ledger.waiting_again:
        said += f"; of these {hours(ledger.waiting_again)} not held, waiting to be placed again"
    return said or "no time"


def bar(ledger: Ledger, full: int, address: str = "") -> Markup:
    """Return the bar, said in words for who cannot see it and for the browser, which makes a list of them.

    Each category in that list leads to `address` sorted by it; `address` sorts by nothing itself, "": nothing leads
    anywhere. Colours and heights are in the style sheet, so that a row weighs little.
    """
    rects = "".join(
        f'<rect class="{"k" if s.held else "u"}{s.category}" x="{percent(s.x)}" width="{percent(s.width)}"/>'
        for s in segments(ledger, full)
        if full
    )
    lead = f' data-to="{escape(address + ("" if address.endswith("?") else "&"))}"' if address else ""
    return Markup(
        f'<div class="where" role="img" tabindex="0" aria-label="{described(ledger)}"{lead}>'
        f'<svg class="bar" aria-hidden="true">{rects}</svg></div>'
    )
