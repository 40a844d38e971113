"""The columns of a group's lane share out its workers' time to the millisecond."""

from hypothesis import given
from hypothesis import strategies as st

from dashboards.lanes import spread_out
from ledger.core.categories import Category
from ledger.queries import Segment
from tests.dashboards.test_run_page import part

stretches = st.lists(
    st.tuples(st.integers(0, 900), st.integers(1, 300) | st.none(), st.sampled_from(Category), st.booleans()),
    max_size=9,
)


def amounts(segments: list[Segment], start: int, end: int, until: int) -> list[int]:
    """What each category, held and then not held, has of [start, end)."""
    lines = [0] * (2 * len(Category))
    for one in segments:
        to = until if one.to is None else one.to
        both = max(min(to, end) - max(one.since, start), 0)
        lines[one.category + (0 if one.held else len(Category))] += both * one.gpus_milli
    return lines


@given(stretches, st.integers(0, 400), st.integers(2, 700), st.integers(1, 80))
def test_each_column_has_what_lies_in_it(
    drawn: list[tuple[int, int | None, Category, bool]], start: int, length: int, buckets: int
) -> None:
    zoom, until = part(start, start + length), start + length
    segments = [
        Segment(since, None if long is None else since + long, category, False, 1600, held, "gpu-1", "h100", 1)
        for since, long, category, held in drawn
    ]
    columns = spread_out([("worker-0", tuple(segments))], zoom, until, buckets)
    size = -(-length // buckets)
    edges = [(start + n * size, min(start + (n + 1) * size, start + length)) for n in range(buckets)]
    assert columns == [amounts(segments, since, to, until) for since, to in edges]
