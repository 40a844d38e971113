"""Every row of the table of categories, in its order."""

import pytest

from ledger.core.categories import REASONS, Category, Phase, categorize
from tests.evidence import Rule, Settings
from tests.tables import check
from tests.worlds import MONDAY

FAILURES = ("failure", "node_lost", "gpu_fault")
PREEMPTIONS = ("preemption", "drain")
OTHERS = ("owner", "time_limit", "completed", "scale_down")


def test_row_1_a_wait_that_was_never_placed_is_waiting_whatever_its_cause() -> None:
    for reason in ("", *REASONS):
        check(f"""
            00:00 pending gpus=8 reason={reason} | 00:00 waiting 8 on unplaced
        """)


def test_row_1_never_placed_holds_over_the_attempts_of_one_life() -> None:
    check("""
        00:00 pending gpus=8                     | 00:00 waiting on unplaced
        01:00 pending attempt=2 reason=gpu_fault |
        02:00 starting attempt=2 machine=m1      | 02:00 restart on m1
        03:00 pending attempt=3 reason=gpu_fault | 03:00 failure on unplaced
    """)


@pytest.mark.parametrize("reason", FAILURES)
def test_row_2_a_wait_after_a_failure(reason: str) -> None:
    check(f"""
        00:00 starting gpus=8 machine=m1    | 00:00 starting on m1
        01:00 pending reason={reason}       | 01:00 failure on unplaced
    """)


def test_row_3_a_wait_after_a_stall() -> None:
    check("""
        00:00 starting gpus=8 machine=m1    | 00:00 starting on m1
        01:00 pending reason=stalled        | 01:00 stalled on unplaced
    """)


@pytest.mark.parametrize("reason", PREEMPTIONS)
def test_row_4_a_wait_after_a_preemption(reason: str) -> None:
    check(f"""
        00:00 starting gpus=8 machine=m1    | 00:00 starting on m1
        01:00 pending reason={reason}       | 01:00 preemption on unplaced
    """)


@pytest.mark.parametrize("reason", ["", *OTHERS])
def test_row_5_a_wait_for_any_other_cause(reason: str) -> None:
    check(f"""
        00:00 starting gpus=8 machine=m1    | 00:00 starting on m1
        01:00 pending reason={reason}       | 01:00 waiting on unplaced
    """)


def test_row_6_the_first_start() -> None:
    check("""
        00:00 starting gpus=8               | 00:00 starting 8 on unknown in none
        01:00 machine=m2                    | 01:00 starting 8 on m2 in none
        02:00 machine=m1                    | 02:00 starting 8 on m1 in p1
        03:00 machine=m1 pool=p2            | 03:00 starting 8 on m1 in p2
        04:00 machine=m2                    | 04:00 starting 8 on m2 in none
    """)


def test_row_7_a_later_start() -> None:
    check("""
        00:00 starting gpus=8 attempt=1     | 00:00 starting
        01:00 starting attempt=2            | 01:00 restart
        02:00 attempt=1                     | 02:00 starting
        03:00 attempt=7                     | 03:00 restart
    """)


def test_row_8_running_that_its_source_calls_stalled() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 stalled=true                  | 01:00 stalled
        02:00 stalled=false                 | 02:00 productive
        03:00 running stalled=true          | 03:00 stalled
        04:00 machine=m1                    |
        05:00 running                       | 05:00 productive
    """)


def test_row_8_comes_before_row_9() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:30 busy=100                      |
        01:00 stalled=true                  | 01:00 stalled
    """)


def test_rows_9_and_10_the_last_usable_reading_decides() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 busy=4.999                    | 01:00 idle
        02:00 busy=5                        | 02:00 productive
        03:00 busy=4.9999                   | 03:00 idle
        04:00 busy=5.0001                   | 04:00 productive
        05:00 busy=0                        | 05:00 idle
        06:00 busy=N/A                      |
        07:00 busy=100                      | 07:00 productive
    """)


def test_rows_9_and_10_a_reading_holds_through_phases_attempts_and_lives() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 busy=0                        | 01:00 idle
        02:00 failed                        | 02:00 failure
        03:00 running attempt=2             | 03:00 idle
        04:00 ended                         | 04:00 -
        05:00 running attempt=1             | 05:00 idle
    """)


def test_row_11_no_reading_ever_yet() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        02:00 busy=100                      |
    """)
    check(
        """
        00:00 running gpus=8                | 00:00 productive
                                            | 01:00 idle
        02:00 busy=100                      | 02:00 productive
        """,
        Settings(rules=(Rule(MONDAY + 3_600_000, "idle"),)),
    )


def test_row_12_stopping_because_it_stalled_or_called_stalled() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 stopping reason=stalled       | 01:00 stalled
        02:00 running                       | 02:00 productive
        03:00 stopping reason=preemption    | 03:00 preemption
        04:00 stalled=true                  | 04:00 stalled
        05:00 stopping reason=preemption    | 05:00 preemption
    """)


@pytest.mark.parametrize("reason", PREEMPTIONS)
def test_row_13_stopping_to_make_room(reason: str) -> None:
    check(f"""
        00:00 running gpus=8 machine=m1     | 00:00 productive on m1
        01:00 stopping reason={reason}      | 01:00 preemption on m1
    """)


@pytest.mark.parametrize("reason", FAILURES)
def test_row_14_stopping_after_a_failure(reason: str) -> None:
    check(f"""
        00:00 running gpus=8 machine=m1     | 00:00 productive on m1
        01:00 stopping reason={reason}      | 01:00 failure on m1
    """)


@pytest.mark.parametrize("reason", ["", *OTHERS])
def test_row_15_any_other_stopping_is_the_end_of_work(reason: str) -> None:
    check(f"""
        00:00 running gpus=8 machine=m1     | 00:00 productive on m1
        01:00 busy=0                        | 01:00 idle on m1
        02:00 stopping reason={reason}      | 02:00 productive on m1
    """)


@pytest.mark.parametrize("phase", ["failed", "lost"])
def test_row_16_failed_or_lost_still_holds(phase: str) -> None:
    for reason in ("", *REASONS):
        check(f"""
            00:00 running gpus=8 machine=m1     | 00:00 productive on m1
            01:00 {phase} reason={reason}       | 01:00 failure on m1
            02:00 stalled=true                  |
        """)


def test_row_17_nothing_is_counted_after_the_end_nor_before_a_life() -> None:
    check("""
        00:00 gpus=8 machine=m1             |
        01:00 running                       | 01:00 productive on m1
        02:00 ended                         | 02:00 -
        03:00 gpus=4 stalled=true           |
        04:00 running                       | 04:00 productive on m1
    """)


def test_the_table_is_total_and_waiting_is_never_held() -> None:
    held = {
        categorize(phase, reason=reason, cause=reason, placed=placed, attempt=attempt, stalled=stalled, busy=busy)
        for phase in (Phase.STARTING, Phase.RUNNING, Phase.STOPPING, Phase.FAILED, Phase.LOST)
        for reason in ("", *REASONS)
        for placed in (False, True)
        for attempt in (1, 2)
        for stalled in (False, True)
        for busy in (None, False, True)
    }
    assert held == set(Category) - {Category.WAITING}
    waits = {
        categorize(Phase.PENDING, cause=cause, placed=placed) for cause in ("", *REASONS) for placed in (False, True)
    }
    assert waits == {Category.WAITING, Category.FAILURE, Category.STALLED, Category.PREEMPTION}
    assert {categorize(phase) for phase in (Phase.NONE, Phase.ENDED)} == {None}
