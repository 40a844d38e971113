"""Sums over cells in the shape of the oracle."""

from collections.abc import Callable, Iterable, Mapping

from ledger.core.categories import Category
from ledger.core.postings import LINES
from ledger.core.totals import Ledger
from tests.oracle import UNPLACED, type_cell


def ledger_of(cells: Iterable[tuple[type_cell, Mapping[str, int]]]) -> Ledger:
    """Return the sum of cells; making it asserts invariant 6."""
    total = Ledger()
    for (_, _, machine, _), lines in cells:
        amounts = tuple(lines.get(line, 0) for line in LINES[: len(Category)])
        held = amounts if machine != UNPLACED else (0,) * len(Category)
        total += Ledger(amounts, held, lines.get("unobserved", 0), lines.get("unobserved_productive", 0))
    return total


def ledgers_by(
    cells: Mapping[type_cell, Mapping[str, int]], start: int, end: int, name: Callable[[type_cell], str]
) -> dict[str, Ledger]:
    """Return the ledger of each name over the hours [start, end) (ms)."""
    within = [(key, lines) for key, lines in cells.items() if start <= key[0] < end]
    return {one: ledger_of(cell for cell in within if name(cell[0]) == one) for one in {name(key) for key, _ in within}}
