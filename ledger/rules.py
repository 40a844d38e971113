"""Change a cluster's settings: no change touches time that is already counted."""

from functools import partial

from django.db import transaction

from ledger import audit, clock, evidence, sql
from ledger.clock import Clock
from ledger.core.categories import Category
from ledger.core.facts import Rule
from ledger.core.spans import rule_at
from ledger.core.windows import HOUR
from ledger.models import Cluster

_EVER = 1 << 62
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
    label = None if unmeasured_as is None else unmeasured_as.label
    _note(at.cluster, since=since, unmeasured_as=label, readings_expected=readings_expected)
    return since


def standing(cluster: int) -> Rule:
    """Return the dated settings that were set last, also when their hour is yet to come."""
    return rule_at(evidence.rules(cluster, _EVER), _EVER)


def set_thresholds(
    cluster: int,
    *,
    busy_milli_percent: int | None = None,
    stall_after: int | None = None,
    carry_max: int | None = None,
    auto_workspaces: bool | None = None,
    drop_below: int | None = None,
    drop_points: int | None = None,
    drop_least_held: int | None = None,
    straggler_milli: int | None = None,
) -> None:
    """Change what acts when a sample arrives, what a straggler is, and what a drop of goodput is (None: as it is).

    Times are ms, percentages and points in thousandths, what is held in GPU-microseconds; `straggler_milli`: from how
    many thousandths of its gang's step time on a worker is a straggler.
    """
    changed = {"busy": busy_milli_percent, "stall": stall_after, "carry": carry_max, "auto": auto_workspaces}
    changed |= {"drop_below": drop_below, "drop_points": drop_points, "drop_least_held": drop_least_held}
    changed["straggler"] = straggler_milli
    if all(value is None for value in changed.values()):
        return
    with transaction.atomic():
        sql.run("thresholds_set", cluster=cluster, **changed)
        _note(
            cluster,
            busy_threshold_milli_percent=busy_milli_percent,
            stall_after_ms=stall_after,
            carry_max_ms=carry_max,
            auto_workspaces=auto_workspaces,
            drop_below_milli_percent=drop_below,
            drop_points_milli=drop_points,
            drop_least_held_us=drop_least_held,
            straggler_milli=straggler_milli,
        )


def _note(cluster: int, **changed: object) -> None:
    """Keep in the audit log what was changed, in the words of the tables."""
    found = Cluster.objects.select_related("organization").get(pk=cluster)
    said = {name: value for name, value in changed.items() if value is not None}
    audit.record("cluster_changed", found.organization.name, cluster=str(found), changed=said)
