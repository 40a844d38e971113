"""Figures of the command are those of the ledger, rounded once and alike."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.figures import hours, minute, percent, plain, seconds, share, tenth
from dashboards import numbers, straggling
from ledger.core import totals

AMOUNTS = st.integers(0, 400 * 24 * 4_096_000_000 * 3_600)
EDGES = st.integers(0, 10**6).map(lambda twentieths: twentieths * 180_000_000)


@given(AMOUNTS | EDGES)
def test_hours_are_rounded_as_the_server_rounds_them(gpu_us: int) -> None:
    assert hours(gpu_us) == totals.gpu_hours(gpu_us, 1)


@given(st.integers(0, 10**15), st.integers(1, 10**15))
def test_percent_is_rounded_as_the_server_rounds_it(part: int, whole: int) -> None:
    assert percent(part, whole) == totals.percent(Fraction(part, whole)).replace(" ", "")


@pytest.mark.parametrize(
    ("gpu_us", "text"),
    [(0, "0.0"), (180_000_000, "0.0"), (180_000_001, "0.1"), (540_000_000, "0.2"), (3_600_000_000, "1.0")],
)
def test_half_a_tenth_goes_to_the_even_one(gpu_us: int, text: str) -> None:
    assert hours(gpu_us) == text


def test_a_ratio_of_nothing_is_absent() -> None:
    assert (percent(0, 0), percent(0, 7), percent(995, 1000), percent(1, 1)) == ("-", "0%", "100%", "100%")


def test_a_share_that_is_something_is_never_shown_as_nothing() -> None:
    assert [share(part, 1000) for part in (0, 1, 9, 10, 26)] == ["0%", "less than 1%", "less than 1%", "1%", "3%"]


@given(st.integers(0, 10**7))
def test_steps_and_gpus_that_wait_are_said_as_on_the_pages(milli: int) -> None:
    page = straggling.seconds(milli)
    told = f"{milli} ms" if milli < 1000 else f"{seconds(milli / 1000)} s"
    assert told.replace(",", "") == page.replace(",", "")
    assert tenth(milli / 1000) == numbers.gpus(round(milli, -2)).rsplit(" ", 1)[0].replace(numbers.THIN_SPACE, "")


def test_a_step_of_less_than_a_second_keeps_three_digits() -> None:
    assert [seconds(number) for number in (0.85, 0.0005, 1.25, 12.345, 99.96, 340.4)] == [
        "0.85", "0.0005", "1.25", "12.3", "100", "340",
    ]  # fmt: skip


def test_instants_are_cut_to_their_minute() -> None:
    assert minute("2026-10-01T12:34:59.999Z") == minute("2026-10-01T12:34:59Z") == "2026-10-01 12:34"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("llm-7 ü 漢字", "llm-7 ü 漢字"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("a\u009bb", "a\\x9bb"),
    ],
)
def test_a_name_cannot_steer_a_terminal(name: str, shown: str) -> None:
    assert plain(name) == shown
