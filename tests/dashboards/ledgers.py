"""Ledgers for tests of what is drawn from them, and a hypothesis strategy of any ledger there can be."""

from hypothesis import strategies as st

from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR, Ledger

UNHELD = (Category.STALLED, Category.FAILURE, Category.PREEMPTION, Category.WAITING)


def ledger(unobserved_productive: float = 0, unheld: dict[str, float] | None = None, **held: float) -> Ledger:
    """A ledger of GPU-hours by category."""
    on_machine = [round(held.get(c.label, 0) * GPU_US_PER_HOUR) for c in Category]
    waits = [round((unheld or {}).get(c.label, 0) * GPU_US_PER_HOUR) for c in Category]
    unseen = round(unobserved_productive * GPU_US_PER_HOUR)
    amounts = tuple(a + b for a, b in zip(on_machine, waits, strict=True))
    return Ledger(amounts, tuple(on_machine), unseen, unseen)


@st.composite
def ledgers(draw: st.DrawFn, most: int = 10**16) -> Ledger:
    """Any ledger."""
    amount = st.one_of(st.just(0), st.integers(0, 50), st.integers(0, most))
    held = [draw(amount) if c is not Category.WAITING else 0 for c in Category]
    waits = [draw(amount) if c in UNHELD else 0 for c in Category]
    unseen = draw(st.integers(0, held[0]))
    return Ledger(tuple(a + b for a, b in zip(held, waits, strict=True)), tuple(held), unseen, unseen)
