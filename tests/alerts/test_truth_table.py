"""When a goodput has dropped: around each of the three numbers, and where there is nothing to compare with.

Amounts are GPU-hours, exact; `day` is the 24 hours before, "-" when not all of them were counted.
"""

from decimal import Decimal

import pytest

from ledger.core.alerting import Limits, Spent, Step, Verdict, judge, passes, step

HOUR = 3_600_000

TABLE = """
held       productive   unobserved | day held   productive | verdict | why
100        40           0          | 100        70         | drop    | under 50 %, and 30 points less
100        49.999       0          | 100        90         | drop    | 49.999 % is under 50 %
100        50           0          | 100        90         | fine    | exactly 50 % is not under it
100        50.001       0          | 100        90         | fine    |
100        49           0          | 100        68.999     | fine    | 19.999 points
100        49           0          | 100        69         | drop    | exactly 20 points
100        49           0          | 100        69.001     | drop    |
1          0.49         0          | 24         16.8       | drop    | 49 % after 70 %, with exactly one GPU-hour
1          0.49         0          | 24         16.32      | fine    | 49 % after 68 %
0.999999   0            0          | 24         24         | untold  | too little held
0.9        0            0          | 24         24         | untold  |
0          0            0          | 24         24         | untold  | nothing held
100        0            0          | -          -          | untold  | not all of the day before was counted
100        0            0          | 0          0          | untold  | the day before held nothing
100        0            0          | 0.000001   0.000001   | drop    | it held something
100        40           20         | 100        90         | drop    | exactly 20 % not observed
100        40           20.000001  | 100        90         | untold  | more than that
100        100          100        | 100        90         | untold  |
300000000  149999999    0          | 300000000  300000000  | drop    | one GPU-hour of a hundred million
3          1            0          | 3          2          | drop    | thirds: 33 points less, nothing is rounded
3          1            0          | 15         8          | drop    | exactly 20 points: 8/15 − 1/3
3          1            0          | 15.000001  8          | fine    | a little under
"""  # fmt: skip


def amount(text: str) -> int:
    exact = Decimal(text) * 3_600_000_000
    assert exact == int(exact)
    return int(exact)


def rows() -> list[tuple[Spent, Spent | None, Verdict]]:
    found = []
    for line in TABLE.strip().splitlines()[1:]:
        hour, day, verdict, _ = (part.split() for part in line.split("|"))
        held, productive, unobserved = (amount(text) for text in hour)
        before = None if day[0] == "-" else Spent(*(amount(text) for text in day))
        found.append((Spent(held, productive, unobserved), before, Verdict(verdict[0])))
    return found


@pytest.mark.parametrize(("hour", "day", "verdict"), rows())
def test_each_row_of_the_table(hour: Spent, day: Spent | None, verdict: Verdict) -> None:
    assert judge(hour, day, Limits()) is verdict


@pytest.mark.parametrize(
    ("verdict", "hours_since_told", "wanted"),
    [
        (Verdict.DROP, None, Step.FIRE),
        (Verdict.FINE, None, Step.NOTHING),
        (Verdict.UNTOLD, None, Step.NOTHING),
        (Verdict.DROP, 1, Step.NOTHING),
        (Verdict.DROP, 100, Step.NOTHING),
        (Verdict.FINE, 1, Step.RESOLVE),
        (Verdict.UNTOLD, 1, Step.NOTHING),
        (Verdict.UNTOLD, 23, Step.NOTHING),
        (Verdict.UNTOLD, 24, Step.RESOLVE),
    ],
)
def test_an_alert_fires_once_and_ends_when_an_hour_says_so(
    verdict: Verdict, hours_since_told: int | None, wanted: Step
) -> None:
    now = 1_000 * HOUR
    told = None if hours_since_told is None else now - hours_since_told * HOUR
    assert step(verdict, now, told) is wanted


@pytest.mark.parametrize(
    ("productive", "held", "least_milli", "wanted"),
    [(850, 1000, 850, True), (849, 1000, 850, False), (0, 0, 850, None), (0, 1, 0, True), (1, 1, 1000, True)],
)
def test_a_run_passes_when_it_reached_its_least(
    productive: int, held: int, least_milli: int, wanted: bool | None
) -> None:
    assert passes(productive, held, least_milli) is wanted
