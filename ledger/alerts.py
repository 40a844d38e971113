"""Evaluate a cluster's alerts: each final hour is judged once and in order, then what is true now.

Whoever evaluates holds the cluster's lock of alerts for the length of one short transaction; a second evaluation waits
and finds nothing left. What was told later of an hour that has been judged fires nothing.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction

from ledger import clock, sql
from ledger.clock import Clock
from ledger.core.alerting import Limits, Spent, Step, Verdict, judge, passes, step
from ledger.core.windows import DAY, HOUR, floor_hour
from ledger.models import Alert, Run
from ledger.notify import outbox

ALERT_SPACE = 0x60DD  # the first key of the advisory locks of evaluations
JUDGED_BACK_MAX = DAY  # after a longer outage older hours are passed over: nobody needs to be told of them any more
LATE_AFTER = 180_000
PRUNE_LATE_AFTER = 2 * DAY
RUNS_AT_ONCE = 500
RUN_TOLD_FOR = DAY
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Evaluated(NamedTuple):
    """How many hours were judged, and how many alerts began and ended."""

    hours: int
    fired: int
    resolved: int


class Subject(NamedTuple):
    """What an alert is about; see `ledger.models.Alert`."""

    rule: str
    key: str
    name: str
    workspace: int | None = None
    pool: str = ""
    run: int | None = None


class _State(NamedTuple):
    judged_to: int | None
    final_to: int
    first: int
    limits: Limits


def evaluate(cluster: int, now: int | None = None) -> Evaluated:
    """Judge the hours of a cluster that became final, and what is true of it at `now` (ms; None: the database's clock).

    Raises ClockJump while the clock is not to be believed.
    """
    at = clock.read(cluster, now)
    hours = fired = resolved = 0
    while (counts := _judge_next(at)) is not None:
        hours, fired, resolved = hours + 1, fired + counts[0], resolved + counts[1]
    with transaction.atomic():
        sql.rows("alert_alone", space=ALERT_SPACE, cluster=cluster)
        more = _judge_now(at)
    return Evaluated(hours, fired + more[0], resolved + more[1])


def _state(cluster: int) -> _State:
    judged_to, final_to, first, *limits = sql.rows("alert_state", cluster=cluster)[0]
    return _State(judged_to, final_to, first, Limits(*limits))


def _judge_next(at: Clock) -> tuple[int, int] | None:
    """Judge the oldest hour that is final and was not judged; None: there is none. Return (fired, resolved)."""
    with transaction.atomic():
        sql.rows("alert_alone", space=ALERT_SPACE, cluster=at.cluster)
        state = _state(at.cluster)
        if state.judged_to is None:
            sql.run("alert_judged", cluster=at.cluster, judged_to=state.final_to)
            return None
        hour = max(state.judged_to, floor_hour(state.final_to - JUDGED_BACK_MAX))
        if hour >= state.final_to:
            return None
        counts = _judge_hour(at, state, hour)
        sql.run("alert_judged", cluster=at.cluster, judged_to=hour + HOUR)
        return counts


def _judge_hour(at: Clock, state: _State, hour: int) -> tuple[int, int]:
    alerts = {alert.subject: alert for alert in _open(at.cluster, ["goodput_drop"])}
    fired = resolved = 0
    for subject, spent, day in _spent(at.cluster, hour, alerts.values()):
        verdict = judge(spent, day if state.first <= hour - DAY else None, state.limits)
        alert = alerts.get(subject.key)
        done = step(verdict, hour, None if alert is None else ms(alert.told_at))
        if done is Step.FIRE:
            fired += fire(at, subject, hour, _numbers(spent, day))
        elif alert is not None and done is Step.RESOLVE:
            resolved += resolve(at, alert)
        elif alert is not None and verdict is not Verdict.UNTOLD:
            alert.told_at = moment(hour)
            alert.save(update_fields=["told_at"])
    return fired, resolved


def _spent(cluster: int, hour: int, alerts: Iterable[Alert]) -> Iterator[tuple[Subject, Spent, Spent]]:
    """Yield what each workspace and pool spent in the hour and the day before; that of an open alert may be nothing."""
    seen = set()
    for workspace, pool, name, *amounts in sql.rows("alert_spent", cluster=cluster, hour=hour):
        if workspace is not None:
            subject = Subject("goodput_drop", f"workspace/{workspace}", name, workspace)
        else:
            subject = Subject("goodput_drop", f"pool/{pool}", name, pool=name)
        seen.add(subject.key)
        yield subject, Spent(*amounts[:3]), Spent(*amounts[3:])
    for alert in alerts:
        if alert.subject not in seen:
            yield Subject(alert.rule, alert.subject, alert.name, alert.workspace_id, alert.pool), Spent(), Spent()


def _numbers(hour: Spent, day: Spent) -> dict[str, Any]:
    return {
        "held": hour.held, "productive": hour.productive, "day_held": day.held, "day_productive": day.productive,
    }  # fmt: skip


def _judge_now(at: Clock) -> tuple[int, int]:
    """What is true now fires, and is over when it is no longer true."""
    standing = {(alert.rule, alert.subject): alert for alert in _open(at.cluster, list(CONDITIONS))}
    fired = resolved = 0
    for subject, detail in _conditions(at):
        if standing.pop((subject.rule, subject.key), None) is None:
            fired += fire(at, subject, at.now, detail)
    for alert in standing.values():
        resolved += resolve(at, alert)
    fired += _judge_runs(at)
    for alert in _open(at.cluster, ["run_below_threshold"]):
        if at.now - ms(alert.fired_at) >= RUN_TOLD_FOR:
            resolved += resolve(at, alert)
    return fired, resolved


CONDITIONS = ("source_stale", "workers_vanished", "ledger_late", "prune_late")


def _conditions(at: Clock) -> Iterator[tuple[Subject, dict[str, Any]]]:
    since = at.now - 2 * at.thresholds.carry_max
    for source, name, word_at in sql.rows("stale_sources", cluster=at.cluster, since=since):
        yield Subject("source_stale", f"source/{source}", name), {"since": word_at}
    for source, name, held_since in sql.rows("vanished_sources", cluster=at.cluster):
        yield Subject("workers_vanished", f"source/{source}", name), {"since": held_since}
    ((counted_until, pruned_at),) = sql.rows("alert_ages", cluster=at.cluster)
    if counted_until is not None and at.now - counted_until > LATE_AFTER:
        yield Subject("ledger_late", "cluster", ""), {"since": counted_until}
    if at.now - pruned_at > PRUNE_LATE_AFTER:
        yield Subject("prune_late", "cluster", ""), {"since": pruned_at}


def _judge_runs(at: Clock) -> int:
    """A run is judged once, when all of its hours are final; one that was over for long is told of to nobody."""
    fired = 0
    for run, workspace, name, least, ended_at, held, productive in sql.rows(
        "alert_runs", cluster=at.cluster, final_to=_state(at.cluster).final_to, limit=RUNS_AT_ONCE
    ):
        passed = passes(productive, held, least)
        Run.objects.filter(pk=run).update(verdict={None: "no data", True: "pass", False: "fail"}[passed])
        if passed is False and ended_at >= at.now - RUN_TOLD_FOR - HOUR:
            detail = {"held": held, "productive": productive, "least_milli": least}
            subject = Subject("run_below_threshold", f"run/{run}", name, workspace, run=run)
            fired += fire(at, subject, ended_at, detail)
    return fired


def _open(cluster: int, rules: list[str]) -> list[Alert]:
    return list(Alert.objects.filter(cluster=cluster, rule__in=rules, resolved_at=None).order_by("pk"))


def fire(at: Clock, subject: Subject, hour: int, detail: dict[str, Any]) -> int:
    """Open an alert and return 1; 0: there is one of this subject and hour already."""
    same = Alert.objects.filter(cluster=at.cluster, rule=subject.rule, subject=subject.key)
    before = same.filter(silenced_until__gt=moment(at.now)).order_by("-pk").first()
    alert, is_new = Alert.objects.get_or_create(
        cluster_id=at.cluster,
        rule=subject.rule,
        subject=subject.key,
        hour=moment(hour),
        defaults={
            "workspace_id": subject.workspace,
            "run_id": subject.run,
            "name": subject.name,
            "pool": subject.pool,
            "told_at": moment(hour),
            "fired_at": moment(at.now),
            "detail": detail,
            "silenced_until": before.silenced_until if before else None,
        },
    )
    if is_new and before is None:
        outbox.put(alert, "firing")
    return int(is_new)


def resolve(at: Clock, alert: Alert) -> int:
    """End an alert and return 1."""
    alert.resolved_at = moment(at.now)
    alert.save(update_fields=["resolved_at"])
    outbox.put(alert, "resolved")
    return 1


def moment(at: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=at)


def ms(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)
