"""Gone: complete lists that lack a worker for long enough end its life where it was last proven."""

from tests.tables import check


def test_two_lists_thirty_seconds_apart_end_the_life_at_the_last_proof() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:20:30 list                       | 00:10 -
    """)


def test_one_list_or_two_too_close_end_nothing() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
    """)
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:20:29.999 list                   |
    """)


def test_the_row_must_be_unbroken() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:21 list w                        |
        00:22 list                          |
        00:22:29 list                       |
    """)
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:20:10 list                       |
        00:20:29 list                       |
        00:21 list                          | 00:10 -
    """)


def test_who_was_never_listed_is_not_missed() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list other                    |
        00:20 list other                    |
        00:30 list other                    |
    """)


def test_a_state_after_the_proof_moves_the_end_to_itself() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:15 failed                        | 00:15 -
        00:20 list                          |
        00:21 list                          |
    """)
    check("""
        00:00 running gpus=8 machine=m1     | 00:00 productive on m1
        00:10 list w                        |
        00:20 machine=m2                    | 00:20 -
        00:20 list                          |
        00:21 list                          |
    """)


def test_a_state_while_it_was_missing_denies_that_it_is_gone() -> None:
    for at in ("00:20:00.001", "00:21"):
        check(f"""
            00:00 running gpus=8                | 00:00 productive
            00:10 list w                        |
            00:20 list                          |
            00:21 list                          |
            {at} pool=p                         |
        """)


def test_a_state_of_another_source_denies_it_too() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive 8
        00:10 list w                        |
        00:20 list                          |
        00:20:30 gpus=4 by=b                | 00:20:30 productive 4
        00:21 list                          |
    """)


def test_a_phase_after_the_lists_begins_a_new_life() -> None:
    check("""
        00:00 running gpus=8 attempt=2      | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:21 list                          | 00:10 -
        00:21:00.001 gpus=4                 |
        00:30 pending reason=failure        | 00:30 waiting
        00:40 starting                      | 00:40 restart
    """)


def test_it_is_stored_once_in_a_row_so_later_states_are_safe() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:21 list                          | 00:10 -
        00:30 running                       | 00:30 productive
        00:40 list                          |
        00:50 list                          |
    """)


def test_a_new_row_ends_the_new_life() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:21 list                          | 00:10 -
        00:30 running                       | 00:30 productive
        00:40 list w                        |
        00:50 list                          | 00:40 -
        00:51 list                          |
    """)


def test_an_older_or_equal_list_is_no_list() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:20 list                          |
        00:19 list w                        |
        00:20 list w                        |
        00:21 list                          | 00:10 -
    """)


def test_lists_of_each_source_stand_alone() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:11 list w by=b                   |
        00:20 list                          |
        00:21 list w by=b                   |
        00:20:10 list                       |
    """)


def test_the_earliest_of_two_sources_ends_it() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:12 list w by=b                   |
        00:20 list                          | 00:10 -
        00:21 list                          |
        00:20 list by=b                     |
        00:21 list by=b                     |
    """)


def test_all_states_of_the_last_instant_come_before_the_end() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive
        00:10 list w                        |
        00:10 failed                        | 00:10 -
        00:20 list                          |
        00:21 list                          |
        00:10 running attempt=1             |
    """)
