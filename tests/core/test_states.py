"""States: partial facts as a set, their order, lives, attempts, and the cause of a wait."""

import pytest

from ledger.core.categories import Phase
from ledger.core.facts import State, content_of
from tests.tables import check


def test_the_last_writer_wins_field_by_field() -> None:
    check("""
        00:00 pending gpus=8 pool=p1        | 00:00 waiting 8 on unplaced in p1
        01:00 starting machine=m2 pool=p2   | 01:00 starting 8 on m2 in p2
        02:00 gpus=4                        | 02:00 starting 4 on m2 in p2
        03:00 running                       | 03:00 productive 4 on m2 in p2
        04:00 pool=p3                       | 04:00 productive 4 on m2 in p3
        05:00 pending                       | 05:00 waiting 4 on unplaced in p3
        06:00 starting                      | 06:00 starting 4 on m2 in p3
    """)


def test_a_machine_brings_its_pool_or_none() -> None:
    check("""
        00:00 pending gpus=8 pool=p9        | 00:00 waiting on unplaced in p9
        01:00 starting machine=m1           | 01:00 starting on m1 in p1
        02:00 starting machine=m2           | 02:00 starting on m2 in none
        03:00 pending                       | 03:00 waiting on unplaced in none
    """)


def test_at_one_instant_the_attempt_orders_before_the_phase() -> None:
    check("""
        00:00 running gpus=8 attempt=1      | 00:00 productive
        01:00 ended attempt=1               |
        01:00 pending attempt=2             | 01:00 waiting
    """)


def test_at_one_instant_an_attempt_not_said_comes_first() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 ended                         |
        01:00 running attempt=1             |
        02:00 failed attempt=1              |
        02:00 ended                         | 02:00 failure
    """)


def test_at_one_instant_phases_come_in_their_order() -> None:
    check("""
        00:00 pending gpus=8                |
        00:00 starting                      |
        00:00 running                       | 00:00 productive
        01:00 stopping reason=drain         |
        01:00 pending                       | 01:00 preemption
        02:00 failed                        |
        02:00 running                       | 02:00 failure
        03:00 ended                         |
        03:00 lost                          | 03:00 -
    """)


def test_at_one_instant_and_phase_the_content_decides_absent_first() -> None:
    check("""
        00:00 running gpus=8 machine=m2     | 00:00 productive 8 on m2 in none
        00:00 running gpus=4 machine=m10    |
        01:00 gpus=2                        | 01:00 productive 2 on m2 in p1
        01:00 gpus=1 machine=m2 pool=p1     |
        02:00 stopping reason=preemption    | 02:00 preemption 2 on m2 in p1
        02:00 stopping                      |
        02:00 stopping reason=gpu_fault     |
        03:00 machine=m2                    | 03:00 preemption 2 on m2 in q
        03:00 machine=m2 pool=q             |
        04:00 running stalled=true          | 04:00 stalled 2 on m2 in q
        04:00 running stalled=false         |
        04:00 running                       |
    """)


def test_at_one_instant_no_pool_is_ordered_by_the_name_none() -> None:
    check("""
        00:00 running gpus=8 machine=m2 pool=a | 00:00 productive on m2 in none
        00:00 running gpus=8 machine=m2        |
        01:00 machine=m2                       | 01:00 productive on m2 in p
        01:00 machine=m2 pool=p                |
    """)


def test_the_same_fact_of_two_sources_is_two_facts_the_later_name_watches() -> None:
    check("""
        00:00 starting gpus=8 by=b          | 00:00 starting unobserved
        00:00 starting gpus=8 by=a          |
        01:00 word by=a                     |
        02:00 word by=b                     | 02:00 starting
                                            | 02:05 starting unobserved
    """)


def test_content_sorts_field_by_field_absent_first() -> None:
    ordered = [
        content_of("", None, None, None, None, "b"),
        content_of("", None, None, None, False, "a"),
        content_of("", None, None, None, True, "a"),
        content_of("", None, None, "p", None, "a"),
        content_of("", None, "m", None, None, "a"),
        content_of("", None, "m", "a", None, "a"),
        content_of("", None, "m ", "a", None, "a"),
        content_of("", None, "m1", "a", None, "a"),
        content_of("", 0, None, None, None, "a"),
        content_of("", 9, None, None, None, "a"),
        content_of("", 10, None, None, None, "a"),
        content_of("", 4_096_000, None, None, None, "a"),
        content_of("drain", None, None, None, None, "a"),
    ]
    assert ordered == sorted(ordered)
    assert len(set(ordered)) == len(ordered)


def test_the_order_of_states_is_instant_attempt_phase_content() -> None:
    ordered = [
        State(1, 2, Phase.ENDED, "z"),
        State(2, None, Phase.ENDED, "z"),
        State(2, 1, Phase.NONE, "z"),
        State(2, 1, Phase.PENDING, "a"),
        State(2, 1, Phase.PENDING, "b"),
        State(2, 2, Phase.NONE, "a"),
    ]
    rotated = ordered[3:] + ordered[:3]
    assert sorted(rotated, key=lambda state: state.order) == ordered


def test_a_life_begins_with_a_phase_and_only_with_one() -> None:
    check("""
        00:00 gpus=8 machine=m1 attempt=2   |
        00:30 stalled=true                  |
        01:00 starting                      | 01:00 restart 8 on m1
        02:00 ended                         | 02:00 -
        02:30 gpus=4 machine=m3             |
        03:00 running                       | 03:00 productive 4 on m3
    """)


def test_in_a_new_life_fields_carry_over_and_placed_starts_anew() -> None:
    check("""
        00:00 running gpus=8 attempt=3      | 00:00 productive
        01:00 failed                        | 01:00 failure
        02:00 ended                         | 02:00 -
        03:00 pending reason=failure        | 03:00 waiting
        04:00 starting                      | 04:00 restart
        05:00 pending reason=failure        | 05:00 failure
    """)


def test_an_end_passed_through_in_an_instant_ends_the_life() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 ended                         |
        01:00 pending attempt=1 reason=drain | 01:00 waiting
    """)


def test_a_phase_passed_through_in_an_instant_places_the_worker() -> None:
    check("""
        00:00 pending gpus=8                |
        00:00 starting                      |
        00:00 pending attempt=1 reason=drain | 00:00 preemption
    """)


def test_the_cause_is_the_reason_of_the_stopping_directly_before() -> None:
    check("""
        00:00 running gpus=8 machine=m1     | 00:00 productive on m1
        01:00 stopping reason=preemption    | 01:00 preemption on m1
        02:00 pending                       | 02:00 preemption on unplaced
        03:00 starting attempt=2            | 03:00 restart on m1
        04:00 stopping reason=stalled       | 04:00 stalled on m1
        05:00 pending                       | 05:00 stalled on unplaced
        06:00 running attempt=3             | 06:00 productive on m1
        07:00 stopping reason=owner         |
        08:00 pending                       | 08:00 waiting on unplaced
    """)


def test_the_cause_of_the_last_of_two_stoppings_counts() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 stopping reason=gpu_fault     | 01:00 failure
        02:00 stopping reason=drain         | 02:00 preemption
        03:00 pending                       |
        04:00 running                       | 04:00 productive
        05:00 stopping reason=drain         | 05:00 preemption
        06:00 stopping                      | 06:00 productive
        07:00 pending                       | 07:00 waiting
    """)


@pytest.mark.parametrize("phase", ["failed", "lost"])
def test_the_cause_after_failed_or_lost_is_failure_unless_the_wait_says_another(phase: str) -> None:
    check(f"""
        00:00 running gpus=8                | 00:00 productive
        01:00 {phase} reason=preemption     | 01:00 failure
        02:00 pending attempt=2             |
        03:00 pending reason=preemption     | 03:00 preemption
        04:00 pending                       |
        05:00 pending reason=stalled        | 05:00 stalled
        06:00 pending attempt=3             |
    """)


def test_the_cause_of_a_wait_straight_after_running_or_starting_is_other() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 stopping reason=preemption    | 01:00 preemption
        02:00 running                       | 02:00 productive
        03:00 pending                       | 03:00 waiting
        04:00 starting attempt=2            | 04:00 restart
        05:00 pending                       | 05:00 waiting
    """)


def test_a_wait_keeps_its_cause_over_a_state_without_a_phase() -> None:
    check("""
        00:00 running gpus=8 machine=m1     | 00:00 productive
        01:00 failed                        | 01:00 failure
        02:00 gpus=4                        |
        03:00 pending                       |
        04:00 machine=m2                    |
        05:00 pending attempt=2             |
    """)


def test_no_gpus_no_time() -> None:
    check("""
        00:00 running                       |
        01:00 gpus=0.142                    | 01:00 productive 0.142
        02:00 gpus=0                        | 02:00 -
        03:00 gpus=4096                     | 03:00 productive 4096
    """)


def test_a_reason_lives_as_long_as_its_phase() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        01:00 stopping reason=drain         | 01:00 preemption
        02:00 gpus=4                        |
        03:00 stopping                      | 03:00 productive
    """)
