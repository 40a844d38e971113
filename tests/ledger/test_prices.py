"""Prices as people write them: exact, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.prices import MAX, MICROS, micros_of, text_of


@given(st.integers(0, MAX * MICROS))
def test_a_price_is_read_as_it_is_written(micros: int) -> None:
    assert micros_of(text_of(micros)) == micros
    assert micros_of(f" {text_of(micros)}000000000000000000000000000000000000 ") == micros


@given(st.integers(0, (MAX - 1) * MICROS), st.integers(1, 60), st.integers(1, 9))
def test_a_digit_too_many_is_refused_wherever_it_stands(micros: int, zeros: int, digit: int) -> None:
    whole, part = divmod(micros, MICROS)
    with pytest.raises(ValueError, match="at most 6 decimals"):
        micros_of(f"{whole}.{part:06d}{'0' * (zeros - 1)}{digit}")


@pytest.mark.parametrize("text", ["", "x", "NaN", "Infinity", "-1", "1e400", "1e-400", "100000.000001", "9" * 5_000])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        micros_of(text)
