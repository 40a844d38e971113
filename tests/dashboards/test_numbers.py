"""Numbers and moments as people read them."""

from fractions import Fraction

import pytest

from dashboards import moments, numbers

H = 3_600_000_000
AT = 1_794_096_000_000 + 14 * 3_600_000 + 2 * 60_000  # 8 November 2026, 14:02 UTC


@pytest.mark.parametrize(
    ("gpu_us", "text"),
    [
        (0, "0.0"),
        (H, "1.0"),
        (1204 * H + H // 2, "1\u202f204.5"),
        (396_167_202 * H // 1000, "396\u202f167.2"),
        (H // 20, "0.0"),  # 0.05 rounds half to even
        (3 * H // 20, "0.2"),
    ],
)
def test_hours_have_one_decimal_and_thin_thousands(gpu_us: int, text: str) -> None:
    assert numbers.hours(gpu_us) == text


@pytest.mark.parametrize(
    ("milli", "text"),
    [(8000, "8 GPUs"), (1000, "1 GPU"), (142, "0.142 GPUs"), (1500, "1.5 GPUs"), (4_096_000, "4\u202f096 GPUs")],
)
def test_gpus_have_no_more_decimals_than_they_need(milli: int, text: str) -> None:
    assert numbers.gpus(milli) == text


def test_a_share_of_nothing_is_absent() -> None:
    assert numbers.share(0, 0) == "–"
    assert numbers.share(1, 3) == "33.3 %"
    assert numbers.share(5, 5) == "100.0 %"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(31, 10), "+3.1"),
        (Fraction(-2, 5), "−0.4"),
        (Fraction(0), "±0.0"),
        (Fraction(-1, 100), "±0.0"),
        (Fraction(12345), "+12\u202f345.0"),
    ],
)
def test_a_difference_has_its_sign(value: Fraction, text: str) -> None:
    assert numbers.signed(value) == text


def test_differences_are_absent_when_there_is_nothing_to_compare_with() -> None:
    assert numbers.points(None, Fraction(1, 2)) is None
    assert numbers.points(Fraction(1, 2), None) is None
    assert numbers.points(Fraction(88, 100), Fraction(849, 1000)) == "+3.1 points"
    assert numbers.relative(5, 0) is None
    assert numbers.relative(3, 4) == "−25.0 %"
    assert numbers.relative(9_999, 1_000) == "+899.9 %"
    assert numbers.relative(15_113, 1_000) == "15-fold"
    assert numbers.relative(3_600_000, 2_000) == "1\u202f800-fold"


def test_moments_are_utc() -> None:
    assert moments.iso(AT) == "2026-11-08T14:02:00Z"
    assert moments.iso(AT + 5) == "2026-11-08T14:02:00.005Z"
    assert moments.clock(AT) == "14:02"
    assert moments.field(AT) == "2026-11-08T14:02"
    assert moments.day(AT) == "8 Nov 2026"


def test_a_day_is_told_when_it_is_not_today_and_a_year_when_it_is_not_this_one() -> None:
    day = 86_400_000
    assert moments.since(AT, AT + 60_000) == "14:02"
    assert moments.since(AT, AT + day) == "8 Nov 14:02"
    assert moments.since(AT, AT + 300 * day) == "8 Nov 2026 14:02"


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (0, "0 min"),
        (38, "38 min"),
        (59, "59 min"),
        (125, "2 h 5 min"),
        (1440, "1 d 0 h"),
        (4560, "3 d 4 h"),
        (-3, "0 min"),
    ],
)
def test_lengths_have_two_units(minutes: int, text: str) -> None:
    assert moments.length(minutes * 60_000 + 59_999 * (minutes >= 0)) == text
