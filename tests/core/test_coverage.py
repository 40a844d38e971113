"""Coverage: what was watched; time that was not is a second label and changes no sum."""

from tests.evidence import Rule, Settings
from tests.tables import check
from tests.worlds import HOUR, MONDAY


def test_a_reading_covers_running_for_five_minutes() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive unobserved
        00:10 busy=50                       | 00:10 productive
                                            | 00:15 productive unobserved
        00:20 busy=50                       | 00:20 productive
        00:25 busy=50                       |
                                            | 00:30 productive unobserved
    """)


def test_a_reading_from_an_instant_covers_from_there_and_holds_from_its_own() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive unobserved
                                            | 00:30 productive
        01:00 busy=0 from=00:30             | 01:00 idle
                                            | 01:05 idle unobserved
    """)


def test_words_cover_no_running_where_readings_are_expected() -> None:
    check("""
        00:00 starting gpus=8               | 00:00 starting
        00:00 word                          |
        00:01 running                       | 00:01 productive unobserved
        00:02 word                          |
    """)


def test_a_step_covers_nothing() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive unobserved
        00:01 step=1                        |
        00:01 busy=N/A step=2               |
    """)


def test_words_cover_all_but_running() -> None:
    check("""
        00:00 pending gpus=8                | 00:00 waiting unobserved
        00:10 word                          | 00:10 waiting
        00:12 starting                      | 00:12 starting
        00:14 word                          |
        00:16 failed                        | 00:16 failure
                                            | 00:19 failure unobserved
    """)


def test_a_word_with_seen_from_covers_from_there() -> None:
    check("""
        00:00 pending gpus=8                | 00:00 waiting unobserved
                                            | 00:20 waiting
        03:00 word from=00:20               |
                                            | 03:05 waiting unobserved
    """)


def test_words_of_the_source_of_the_latest_phase_count() -> None:
    check("""
        00:00 pending gpus=8 by=a           | 00:00 waiting unobserved
        00:10 word by=b                     |
        00:20 machine=m1 by=b               |
        00:21 word by=b                     |
        00:22 failed by=b                   | 00:22 failure
                                            | 00:26 failure unobserved
    """)


def test_a_phase_passed_through_in_an_instant_still_names_the_source() -> None:
    check("""
        00:00 pending gpus=8 by=a           | 00:00 waiting unobserved
        00:10 failed by=b                   | 00:10 failure unobserved
        00:10 pending by=a                  |
        00:11 word by=b                     | 00:11 failure
                                            | 00:16 failure unobserved
    """)


def test_a_late_reading_covers_nothing() -> None:
    check("""
        00:00 running gpus=8                | 00:00 productive unobserved
        01:00 busy=50                       | 01:00 productive
        00:30 busy=0 from=00:00             | 01:05 productive unobserved
    """)


def test_without_readings_words_alone_decide_from_the_whole_hour_on() -> None:
    check(
        """
        00:50 running gpus=8                | 00:50 productive unobserved
        00:58 word                          | 01:00 productive
                                            | 01:03 productive unobserved
        01:10 word                          | 01:10 productive
                                            | 01:15 productive unobserved
        01:59 word                          | 01:59 productive
                                            | 02:00 productive unobserved
        """,
        Settings(rules=(Rule(MONDAY + HOUR, readings_expected=False), Rule(MONDAY + 2 * HOUR))),
    )


def test_coverage_reaches_through_phases_and_lives() -> None:
    check("""
        00:10 busy=50                       |
        00:11 running gpus=8                | 00:11 productive
        00:12 ended                         | 00:12 -
        00:13 running                       | 00:13 productive
                                            | 00:15 productive unobserved
    """)


def test_a_shorter_carry_covers_less() -> None:
    check(
        """
        00:00 running gpus=8                | 00:00 productive unobserved
        00:10 busy=50                       | 00:10 productive
                                            | 00:11 productive unobserved
        """,
        Settings(carry_max=60_000),
    )
