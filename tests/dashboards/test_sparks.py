"""The small pictures under the figures."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.figures import Measured
from dashboards.sparks import BUCKETS_MAX, bucket_size, buckets, spark
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, HOUR, MAX_DAYS, Window
from ledger.queries import Stretch
from tests.dashboards.ledgers import ledger, ledgers

START = 1_794_096_000_000 // HOUR * HOUR


@pytest.mark.parametrize(("hours", "size"), [(1, 1), (24, 1), (60, 1), (61, 2), (168, 3), (720, 12), (1344, 24)])
def test_a_bucket_has_as_few_hours_as_can_be(hours: int, size: int) -> None:
    assert bucket_size(Window(START, START + hours * HOUR)) == size * HOUR


@given(st.integers(1, MAX_DAYS * 24))
def test_there_are_never_too_many_buckets(hours: int) -> None:
    assert 1 <= len(buckets([], Window(START, START + hours * HOUR))) <= BUCKETS_MAX


@given(st.dictionaries(st.integers(0, 55), ledgers(), max_size=20))
def test_buckets_lose_nothing(told: dict[int, Ledger]) -> None:
    window = Window(START, START + 7 * DAY)
    sums = buckets([Stretch(START + place * 3 * HOUR, of, {}) for place, of in told.items()], window)
    assert sums == [told.get(place, Ledger()) for place in range(56)]


def test_columns_have_the_height_of_their_value_and_absent_is_a_hole() -> None:
    sums = [ledger(productive=4), Ledger(), ledger(productive=1, idle=3), ledger(productive=1e-6)]
    assert 'd="M0 24v-24h.8V24zM2 24v-6h.8V24zM3 24v-0.4h.8V24z"' in spark(sums, lambda of: of.productive)
    assert 'd="M0 24v-24h.8V24zM2 24v-6h.8V24zM3 24v-24h.8V24z"' in spark(sums, lambda of: of.goodput, Fraction(1))
    assert spark([], lambda of: of.productive) == ""


def test_a_bucket_that_is_not_over_is_drawn_apart() -> None:
    sums = [ledger(productive=2), ledger(productive=1)]
    drawn = spark(sums, lambda of: of.productive, partial=True)
    assert '<path d="M0 24v-24h.8V24z"/><path class="partial" d="M1 24v-12h.8V24z"/>' in drawn
    assert "partial" not in spark([*sums, Ledger()], lambda of: of.productive, partial=True)


def test_the_five_figures() -> None:
    now = ledger(productive=80, idle=15, failure=5, unheld={"waiting": 8, "failure": 2}, unobserved_productive=2)
    before = ledger(productive=40, idle=10)
    goodput, held, productive, lost, waiting = Measured(now, before).five()
    assert (goodput.value, goodput.change, goodput.note) == ("80 %", "±0.0 points", "of it unobserved 2.0 %")
    assert (held.value, held.unit, held.change) == ("100.0", "GPU-hours", "+100.0 %")
    assert (productive.value, productive.change) == ("80.0", "+100.0 %")
    assert (lost.value, lost.note) == ("20.0", "most: idle 15.0")
    assert (waiting.value, waiting.change, waiting.note) == ("10.0", None, "of it to be placed again 2.0")


def test_what_is_absent_is_a_dash_and_has_no_change() -> None:
    goodput, *_, waiting = Measured(ledger(unheld={"waiting": 3})).five()
    assert (goodput.value, goodput.change, goodput.note) == ("–", None, "")
    assert (waiting.value, waiting.note) == ("3.0", "")
