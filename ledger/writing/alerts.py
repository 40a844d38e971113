"""Alerts in words and in JSON. The words are the same on pages, in the interface and in what is sent."""

from datetime import UTC, datetime
from typing import Any

from ledger.core.totals import GPU_US_PER_HOUR
from ledger.core.windows import HOUR
from ledger.decode.values import iso
from ledger.queries import AlertRow
from ledger.writing.runs import moment

Document = dict[str, Any]


def alert(of: AlertRow) -> Document:
    """Return an alert; null for what it has not."""
    return {
        "id": of.id,
        "rule": of.rule,
        "state": "firing" if of.resolved_at is None else "resolved",
        "text": sentence(of),
        "cluster": of.cluster,
        "workspace": of.workspace,
        "name": of.name,
        "pool": of.pool or None,
        "uid": of.uid,
        "hour": iso(of.hour),
        "fired_at": iso(of.fired_at),
        "resolved_at": moment(of.resolved_at),
        "acknowledged_at": moment(of.acknowledged_at),
        "acknowledged_by": of.acknowledged_by or None,
        "silenced_until": moment(of.silenced_until),
    }


def sentence(of: AlertRow) -> str:
    """Return what an alert says, in one sentence without a full stop; instants are UTC."""
    detail = of.detail
    match of.rule:
        case "goodput_drop":
            what = f"pool {of.pool} of {of.cluster}" if of.pool else f"workspace {of.name} on {of.cluster}"
            now, before = (
                percent(detail["productive"], detail["held"]),
                percent(detail["day_productive"], detail["day_held"]),
            )
            hours = f"{at(of.hour, '%H:%M')}–{at(of.hour + HOUR, '%H:%M')} UTC on {at(of.hour, '%-d %b')}"
            return f"Goodput of {what} was {now} in {hours}, {before} the day before"
        case "run_below_threshold":
            reached, least = percent(detail["productive"], detail["held"]), percent(detail["least_milli"], 1000)
            return f"Run {of.name} is over with a goodput of {reached}; it was to have at least {least}"
        case "source_stale":
            return f"Source {of.name} of {of.cluster} has said nothing since {at(detail['since'])} UTC"
        case "workers_vanished":
            return f"Source {of.name} of {of.cluster} lacks over half of its workers since {at(detail['since'])} UTC"
        case "ledger_late":
            return f"Cluster {of.cluster} was last counted at {at(detail['since'])} UTC"
    return f"Cluster {of.cluster} was last pruned at {at(detail['since'])} UTC"


ADVICE = {
    "goodput_drop": "The pages By run and By machine of that hour show what took the time.",
    "run_below_threshold": "The run's page ranks what it lost, and why.",
    "source_stale": "Is its collector running, can it reach this server, is its token valid? Its time is unobserved.",
    "workers_vanished": "If they are really gone, an operator says so with manage.py confirm_vanished.",
    "ledger_late": "Are the Celery worker and beat running? No number is lost; manage.py doctor says more.",
    "prune_late": "Nothing is lost, but disks fill. manage.py prune says what holds it up.",
}


def percent(part: int, whole: int) -> str:
    """Return part / whole as a percentage with one decimal, never rounded up over a limit."""
    tenths = part * 1000 // whole if whole else 0
    return f"{tenths // 10}.{tenths % 10} %"


def gpu_hours(amount: int) -> str:
    return f"{amount * 10 // GPU_US_PER_HOUR / 10:,.1f}"


def at(ms: int, form: str = "%H:%M on %-d %b") -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).strftime(form)
