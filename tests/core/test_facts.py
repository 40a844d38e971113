"""Ranges: unions of half-open intervals, and what they cover."""

from hypothesis import given
from hypothesis import strategies as st

from ledger.core.facts import covers, union

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


@given(RANGES)
def test_a_union_covers_what_any_of_its_ranges_does(ranges: list[tuple[int, int]]) -> None:
    joined = union(ranges)
    for at in range(-1, 32):
        assert covers(joined, at) == any(lower <= at < upper for lower, upper in ranges)


@given(RANGES)
def test_a_union_is_sorted_with_gaps_between_and_the_same_whatever_the_order(ranges: list[tuple[int, int]]) -> None:
    joined = union(ranges)
    assert all(lower < upper for lower, upper in joined)
    assert all(before[1] < after[0] for before, after in zip(joined, joined[1:], strict=False))
    assert union(ranges[::-1]) == union([*ranges, *joined]) == joined


def test_ranges_that_touch_are_one() -> None:
    assert union([(5, 9), (0, 5), (20, 20), (12, 10)]) == ((0, 9),)
