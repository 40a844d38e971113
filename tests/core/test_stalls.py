"""Stalled: proven by the steps themselves, within one stay; or with the gang that proves it."""

from tests.evidence import Settings
from tests.tables import check


def test_silence_proves_nothing_a_later_same_step_does() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        05:00 machine=m2                    |
    """)
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        05:00 step=7                        |
    """)


def test_the_limit_must_be_passed_by_a_millisecond() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        00:11 step=7                        |
    """)
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:11:00.001 step=7                 |
    """)


def test_five_of_the_newest_step_seconds_are_the_limit_when_longer() -> None:
    check("""
        00:00 running gpus=8                        | 00:00 productive
        00:01 step=7 step_seconds=600               |
        00:51 step=7                                |
    """)
    check("""
        00:00 running gpus=8                        | 00:00 productive
        00:01 step=7 step_seconds=600               | 00:01 stalled
        00:51:00.001 step=7                         |
    """)


def test_the_step_seconds_of_the_proof_count_for_it() -> None:
    check("""
        00:00 running gpus=8                        | 00:00 productive
        00:01 step=7 step_seconds=60                |
        00:30 step=7 step_seconds=600               |
    """)
    check("""
        00:00 running gpus=8                        | 00:00 productive
        00:01 step=7 step_seconds=600               | 00:01 stalled
        00:30 step=7 step_seconds=60                |
    """)


def test_the_next_progress_ends_the_stall() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:30 step=7                        |
        01:00 step=8                        | 01:00 productive
        01:05 step=8                        |
    """)


def test_a_smaller_step_is_progress_too() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        00:09 step=3                        |
        00:18 step=3                        |
        00:19 step=7                        |
    """)


def test_a_busy_gpu_is_not_progress_and_idle_time_moves_too() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7 busy=100               | 00:01 stalled
        00:05 busy=0                        |
        00:30 step=7 busy=100               |
        01:00 step=8                        | 01:00 productive
    """)


def test_time_in_a_checkpoint_or_an_evaluation_is_not_taken_for_a_stall() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        00:02 step=7 doing=evaluation       |
        02:00 step=7 doing=evaluation       |
        03:00 step=8                        |
    """)


def test_the_same_step_after_it_does_not_prove_a_stall_from_before_it() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        00:09 step=7 doing=checkpoint       |
        00:19 step=7                        |
        00:29 step=7                        |
        00:30 step=8                        |
    """)


def test_the_same_step_for_the_limit_after_it_is_a_stall_from_its_end() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        00:09 step=7 doing=checkpoint       |
        00:19 step=7                        | 00:19 stalled
        00:29:00.001 step=7                 |
    """)


def test_a_sample_in_a_phase_proves_nothing_however_late_it_comes() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        05:00 step=7 doing=evaluation       |
    """)


def test_a_phase_ends_a_stall_that_was_proven_before_it() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:30 step=7                        |
        00:40 step=7 doing=checkpoint       | 00:40 productive
        01:40 step=7                        |
        01:41 step=8                        |
    """)


def test_a_gang_is_not_stalled_while_one_that_tells_evaluates() -> None:
    check("""
        00:00 a: running gpus=8                | 00:00 a: productive
        00:00 b: running gpus=8                | 00:00 b: productive
        00:01 a: step=7                        | 00:01 a: stalled
        00:30 a: step=7                        | 00:01 b: stalled
        00:40 a: step=7 doing=evaluation       | 00:40 a: productive
        02:00 a: step=7 doing=evaluation       | 00:40 b: productive
    """)


def test_the_end_of_the_stay_ends_the_stall() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:30 step=7                        |
        01:00 stopping                      | 01:00 productive
        02:00 running                       |
        03:00 step=7                        |
    """)


def test_progress_before_the_stay_proves_nothing_in_it() -> None:
    check("""
        00:00 starting gpus=8               | 00:00 starting
        00:01 step=7                        |
        00:02 running                       | 00:02 productive
        05:00 step=7                        |
    """)


def test_progress_at_the_begin_of_the_stay_lies_in_it() -> None:
    check("""
        00:00 starting gpus=8               | 00:00 starting
        00:02 step=7                        |
        00:02 running                       | 00:02 stalled
        05:00 step=7                        |
    """)


def test_a_proof_at_the_end_of_the_stay_is_too_late() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:02 step=7                        |
        01:00 step=7                        |
        01:00 ended                         | 01:00 -
    """)
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:02 step=7                        | 00:02 stalled
        00:59:59.999 step=7                 |
        01:00 ended                         | 01:00 -
    """)


def test_a_stay_is_broken_by_another_phase_attempt_or_no_gpus_that_lasts() -> None:
    for state in ("failed", "starting", "attempt=2", "gpus=0", "ended"):
        after = {"failed": "failure", "starting": "starting", "gpus=0": "-", "ended": "-"}.get(state, "productive")
        back = {"attempt=2": "attempt=2", "gpus=0": "gpus=8"}.get(state, "running")
        changes = "" if after == "productive" else f"00:05 {after}"
        again = "" if after == "productive" else "00:05:00.001 productive"
        check(f"""
            00:00 running gpus=8                | 00:00 productive
            00:01 step=7                        |
            00:05 {state}                       | {changes}
            00:05:00.001 {back}                 | {again}
            00:40 step=7                        |
        """)


def test_what_is_passed_through_in_an_instant_breaks_no_stay() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:05 failed                        |
        00:05 running attempt=1             |
        00:06 gpus=0                        |
        00:06 gpus=8                        |
        00:07 attempt=1 gpus=4              |
        00:08 ended                         |
        00:08 running attempt=1             |
        00:40 step=7                        |
    """)


def test_a_late_state_takes_a_proven_stall_back() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        |
        00:40 step=7                        |
        00:20 failed                        | 00:20 failure
        00:21 running attempt=1             | 00:21 productive
    """)


def test_only_the_first_proof_of_a_progress_is_tried() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:20 step=7                        |
        00:30 stopping                      | 00:30 productive
        00:40 running                       |
        00:50 step=7                        |
    """)


def test_a_late_or_equal_step_changes_nothing() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 step=7                        |
        00:05 step=6                        |
        00:10 step=8                        |
        00:19 step=7                        |
        00:19 step=7                        |
    """)


def test_a_shorter_setting_acts_on_the_samples_that_arrive_under_it() -> None:
    check(
        """
        00:00 running gpus=8                | 00:00 productive
        00:01 step=7                        | 00:01 stalled
        00:02:00.001 step=7                 |
        """,
        Settings(stall_after=60_000),
    )


def test_who_tells_no_step_stalls_with_all_that_tell() -> None:
    check("""
        00:00 a: running gpus=8             | 00:00 a: productive
        00:00 b: running gpus=4             | 00:00 b: productive
        00:05 a: step=7                     | 00:05 a: stalled
        00:30 a: step=7                     | 00:05 b: stalled
        01:00 a: step=8                     | 01:00 a: productive
                                            | 01:00 b: productive
    """)


def test_one_that_goes_on_keeps_the_silent_from_stalling() -> None:
    check("""
        00:00 a: running gpus=8             | 00:00 a: productive
        00:00 b: running gpus=4             | 00:00 b: productive
        00:00 c: running gpus=2             | 00:00 c: productive
        00:05 a: step=7                     | 00:05 a: stalled
        00:30 a: step=7                     | 00:05 b: stalled
        00:10 b: step=7                     | 00:10 b: productive
        00:12 b: step=8                     | 00:05 c: stalled
                                            | 00:10 c: productive
    """)


def test_the_silent_stalls_only_while_it_runs_and_only_until_it_tells() -> None:
    check("""
        00:00 a: running gpus=8             | 00:00 a: productive
        00:00 b: starting gpus=4            | 00:00 b: starting
        00:05 a: step=7                     | 00:05 a: stalled
        00:10 b: running                    | 00:10 b: stalled
        00:40 a: step=7                     |
        00:20 b: step=7                     | 00:20 b: productive
        00:50 b: failed                     | 00:50 b: failure
        00:55 b: running attempt=2          | 00:55 b: stalled
    """)


def test_a_gang_that_tells_nothing_proves_nothing() -> None:
    check("""
        00:00 a: running gpus=8             | 00:00 a: productive
        00:00 b: running gpus=4             | 00:00 b: productive
        01:00 a: stalled=true               | 01:00 a: stalled
    """)


def test_a_worker_that_ended_no_longer_holds_its_gang_up() -> None:
    check("""
        00:00 a: running gpus=8             | 00:00 a: productive
        00:00 b: running gpus=4             | 00:00 b: productive
        00:00 c: running gpus=2             | 00:00 c: productive
        00:05 a: step=7                     | 00:05 a: stalled
        00:30 a: step=7                     |
        00:04 b: step=1                     |
        00:08 b: step=2                     |
        00:12 b: ended                      | 00:12 b: -
                                            | 00:12 c: stalled
    """)


def test_steps_close_together_tell_through_a_restart_between_them() -> None:
    check("""
        00:00 a: running gpus=8             | 00:00 a: productive
        00:00 b: running gpus=4             | 00:00 b: productive
        00:05 a: step=7                     | 00:05 a: stalled
        00:40 a: step=7                     | 00:05 b: stalled
        00:10 b: step=1                     | 00:10 b: productive
        00:12 b: failed                     | 00:12 b: failure
        00:13 b: running attempt=2          | 00:13 b: productive
        00:15 b: step=2                     |
        00:16 b: failed                     | 00:16 b: failure
        00:17 b: running attempt=3          | 00:17 b: stalled
        00:20:00.001 b: step=3              | 00:20:00.001 b: productive
    """)
