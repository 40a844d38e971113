"""The sums of a ledger, and the figures that follow from them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR, Ledger, gpu_hours, percent

HOURS = GPU_US_PER_HOUR
UNHELD = (Category.STALLED, Category.FAILURE, Category.PREEMPTION)


def ledger(*, unobserved: int = 0, unobserved_productive: int = 0, **categories: tuple[int, int]) -> Ledger:
    """Each category is (held, not held)."""
    amounts = [sum(categories.get(category.label, (0, 0))) for category in Category]
    held = [categories.get(category.label, (0, 0))[0] for category in Category]
    return Ledger(tuple(amounts), tuple(held), unobserved, unobserved_productive)


def test_the_equations_of_the_sums() -> None:
    one = ledger(
        productive=(60, 0), idle=(10, 0), stalled=(5, 2), starting=(3, 0), restart=(2, 0), failure=(4, 6),
        preemption=(1, 3), waiting=(0, 20),
    )  # fmt: skip
    assert one.asked == 116
    assert one.allocated == 85
    assert one.waiting == 31
    assert one.waiting_again == 11
    assert one.productive == 60
    assert one.not_productive == 25
    assert one.lost == 56
    assert one.goodput == Fraction(60, 85)
    assert one.allocated + one.waiting == one.asked
    assert one.lost + one.productive == one.asked


def test_goodput_is_absent_where_nothing_was_held() -> None:
    assert Ledger().goodput is None
    assert ledger(waiting=(0, 5)).goodput is None
    assert ledger(failure=(1, 0)).goodput == 0


def test_what_of_goodput_was_unobserved_is_shown_only_when_it_is_something() -> None:
    assert ledger(productive=(4, 0), idle=(4, 0), unobserved=3, unobserved_productive=2).unobserved_share == Fraction(
        2, 8
    )
    assert ledger(productive=(4, 0), unobserved=0).unobserved_share is None
    assert ledger(waiting=(0, 4), unobserved=4).unobserved_share is None


def test_the_biggest_loss_counts_held_and_not_held_and_breaks_ties_in_table_order() -> None:
    assert ledger(productive=(90, 0), waiting=(0, 80), idle=(5, 0), failure=(3, 3)).biggest_loss is Category.FAILURE
    assert ledger(idle=(5, 0), failure=(2, 3), preemption=(5, 0)).biggest_loss is Category.IDLE
    assert ledger(productive=(9, 0), waiting=(0, 9)).biggest_loss is None


@pytest.mark.parametrize(
    "broken",
    [
        {"productive": (-1, 0)},
        {"waiting": (1, 0)},
        {"productive": (0, 1)},
        {"idle": (1, 0), "unobserved": 2},
        {"productive": (1, 0), "unobserved": 1, "unobserved_productive": 2},
        {"productive": (1, 0), "unobserved": 0, "unobserved_productive": 1},
        {"idle": (1, 0), "unobserved": 1, "unobserved_productive": 1},
    ],
)
def test_what_cannot_be_is_asserted(broken: dict[str, tuple[int, int]]) -> None:
    with pytest.raises(AssertionError):
        ledger(**broken)


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    amount = st.integers(0, 10**18)
    parts = {
        category.label: (
            0 if category is Category.WAITING else draw(amount),
            draw(amount) if category in UNHELD or category is Category.WAITING else 0,
        )
        for category in Category
    }
    productive = draw(st.integers(0, parts["productive"][0]))
    others = sum(sum(pair) for name, pair in parts.items() if name != "productive")
    return ledger(unobserved=productive + draw(st.integers(0, others)), unobserved_productive=productive, **parts)


@given(ledgers(), ledgers())
def test_sums_of_ledgers_are_sums_of_their_figures(one: Ledger, other: Ledger) -> None:
    both = one + other
    for name in (
        "asked",
        "allocated",
        "waiting",
        "waiting_again",
        "productive",
        "not_productive",
        "lost",
        "unobserved",
    ):
        assert getattr(both, name) == getattr(one, name) + getattr(other, name), name
    assert both.productive <= both.allocated <= both.asked
    assert both.unobserved <= both.asked


@pytest.mark.parametrize(
    ("amount", "decimals", "text"),
    [
        (396_167_202 * HOURS // 1000, 3, "396167.202"),
        (0, 1, "0.0"),
        (HOURS // 20, 1, "0.0"),
        (HOURS // 20 + 1, 1, "0.1"),
        (HOURS * 3 // 20, 1, "0.2"),
        (1, 6, "0.000000"),
        (HOURS, 0, "1"),
        (-HOURS // 2, 1, "-0.5"),
        (10**18, 6, "277777777.777778"),
    ],
)
def test_gpu_hours_are_rounded_once_from_the_integer(amount: int, decimals: int, text: str) -> None:
    assert gpu_hours(amount, decimals) == text


def test_percent_is_rounded_once_from_the_fraction() -> None:
    assert percent(Fraction(1, 200)) == "0 %"
    assert percent(Fraction(3, 200)) == "2 %"
    assert percent(Fraction(2, 3)) == "67 %"
    assert percent(Fraction(1)) == "100 %"
    assert percent(None) == "–"
    assert percent(None, absent="-") == "-"
