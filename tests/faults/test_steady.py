"""A clock that jumps against the monotonic one counts nothing until a reading nearly a minute later agrees (R3)."""

import pytest

from ledger.core.steady import CONFIRM_AFTER, JUMP_MAX, ClockJump, Steady

START = 1_790_553_600_000


def taken(*readings: tuple[int, int]) -> list[int | None]:
    """Take readings (clock, monotonic), ms after the start, and return what was believed; None = a jump."""
    steady, found = Steady(), []
    for clock, monotonic in readings:
        try:
            found.append(steady.take(START + clock, 5_000 + monotonic) - START)
        except ClockJump:
            found.append(None)
    return found


def test_a_clock_that_goes_along_is_believed() -> None:
    assert taken((0, 0), (60_000, 60_000), (3_600_123, 3_600_000)) == [0, 60_000, 3_600_123]


def test_the_first_reading_is_believed_for_there_is_none_before() -> None:
    assert taken((-10 * JUMP_MAX, 0)) == [-10 * JUMP_MAX]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_jump_of_more_than_ten_minutes_is_not(sign: int) -> None:
    assert taken((0, 0), (sign * JUMP_MAX, 0)) == [0, sign * JUMP_MAX]
    assert taken((0, 0), (sign * (JUMP_MAX + 1), 0)) == [0, None]


def test_a_jump_says_how_far() -> None:
    steady = Steady()
    steady.take(START, 0)
    with pytest.raises(ClockJump, match=r"jumped by -7200\.000 s") as jump:
        steady.take(START - 7_190_000, 10_000)
    assert jump.value.by == -7_200_000


def test_a_jump_that_lasts_is_confirmed() -> None:
    jump = 3 * 3_600_000
    seen = taken(
        (0, 0), (jump, 0), (jump + CONFIRM_AFTER - 1, CONFIRM_AFTER - 1), (jump + CONFIRM_AFTER, CONFIRM_AFTER)
    )
    assert seen == [0, None, None, jump + CONFIRM_AFTER]


def test_a_jump_that_is_put_right_never_counted() -> None:
    jump = 3 * 3_600_000
    assert taken((0, 0), (jump, 0), (1_000, 1_000), (jump + 100_000, 100_000)) == [0, None, 1_000, None]


def test_a_clock_that_jumps_about_is_never_believed() -> None:
    hour = 3_600_000
    seen = taken((0, 0), (3 * hour, 0), (9 * hour, 60_000), (-5 * hour, 120_000), (9 * hour, 180_000))
    assert seen == [0, None, None, None, None]


def test_small_steps_are_each_believed() -> None:
    assert taken((0, 0), (300_000, 0), (900_000, 1), (600_001, 2)) == [0, 300_000, 900_000, 600_001]
