"""Change a cluster's settings: no change touches time that is already counted."""

from functools import partial

from ledger import clock, evidence, sql
from ledger.clock import Clock
from ledger.core.categories import Category
from ledger.core.spans import rule_at
from ledger.core.windows import HOUR

UNMEASURED = (Category.PRODUCTIVE, Category.IDLE)


def set_rule(
    cluster: int,
    *,
    unmeasured_as: Category | None = None,
    readings_expected: bool | None = None,
    now: int | None = None,
) -> int:
    """Date a change (None: as it is) from the next whole hour on and return that hour, ms.

    Raises ValueError when time without a reading would count as something it cannot be.
    """
    if unmeasured_as not in (None, *UNMEASURED):
        raise ValueError("time without a reading counts as productive or as idle")
    return clock.post(
        cluster, now, partial(_set_rule, unmeasured_as=unmeasured_as, readings_expected=readings_expected)
    )


def _set_rule(at: Clock, unmeasured_as: Category | None, readings_expected: bool | None) -> int:
    since = at.open_hour + HOUR
    standing = rule_at(evidence.rules(at.cluster, since), since)
    sql.run(
        "rule_set",
        cluster=at.cluster,
        since=since,
        unmeasured_as=int(standing.unmeasured_as if unmeasured_as is None else unmeasured_as),
        readings_expected=standing.readings_expected if readings_expected is None else readings_expected,
    )
    return since


def set_thresholds(
    cluster: int,
    *,
    busy_milli_percent: int | None = None,
    stall_after: int | None = None,
    carry_max: int | None = None,
    auto_workspaces: bool | None = None,
) -> None:
    """Change what acts when a sample arrives (None: as it is); instants in ms, busy in thousandths of a percent."""
    sql.run(
        "thresholds_set",
        cluster=cluster,
        busy=busy_milli_percent,
        stall=stall_after,
        carry=carry_max,
        auto=auto_workspaces,
    )
