"""Alerts: those that are firing, and those that were."""

from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet

from ledger.access import Watched
from ledger.models import Alert
from ledger.models.alerts import RULES


class AlertRow(NamedTuple):
    """An alert with the names of what it is about; instants are ms, `detail` is whole numbers."""

    id: int
    rule: str
    organization: str
    cluster: str
    workspace: str | None
    name: str
    pool: str
    uid: str | None
    hour: int
    fired_at: int
    resolved_at: int | None
    acknowledged_at: int | None
    acknowledged_by: str
    silenced_until: int | None
    detail: dict[str, int]


@dataclass(frozen=True, slots=True)
class Alerts:
    """One page of alerts, those that are firing first, then the newest; `count` of all that match."""

    rows: tuple[AlertRow, ...]
    count: int


def alerts(
    watched: Watched, *, firing: bool | None = None, rule: str = "", limit: int = 100, offset: int = 0
) -> Alerts:
    """Return a page of the alerts that may be seen; `firing` None: those that are over, too."""
    found = _seen(watched)
    if firing is not None:
        found = found.filter(resolved_at__isnull=firing)
    if rule:
        found = found.filter(rule=rule)
    ordered = found.order_by(F("resolved_at").desc(nulls_first=True), "-fired_at", "-pk")
    rows = tuple(row_of(alert) for alert in ordered[offset : offset + limit])
    is_all = not offset and len(rows) < limit
    return Alerts(rows, len(rows) if is_all else found.count())


def one_alert(watched: Watched, number: int) -> AlertRow | None:
    """Return an alert, None when there is none or it may not be seen."""
    found = _seen(watched).filter(pk=number).first()
    return None if found is None else row_of(found)


def alerts_firing() -> dict[str, int]:
    """Return how many alerts of each rule are firing, everywhere."""
    counted = Alert.objects.filter(resolved_at=None).values_list("rule").annotate(Count("pk"))
    return dict.fromkeys(RULES, 0) | dict(counted)


def _seen(watched: Watched) -> QuerySet[Alert]:
    of_clusters = Q(workspace=None, cluster__in=watched.clusters.order_by().values("pk"))
    seen = Alert.objects.filter(Q(workspace__in=watched.workspaces) | of_clusters)
    return seen.select_related("cluster__organization", "workspace", "run")


def row_of(of: Alert) -> AlertRow:
    """Return an alert with the names of what it is about."""

    def ms(name: str) -> int | None:
        value = getattr(of, name)
        return None if value is None else round(value.timestamp() * 1000)

    return AlertRow(
        id=of.pk,
        rule=of.rule,
        organization=of.cluster.organization.name,
        cluster=of.cluster.name,
        workspace=None if of.workspace is None else of.workspace.name,
        name=of.name,
        pool=of.pool,
        uid=None if of.run is None else of.run.uid,
        hour=ms("hour") or 0,
        fired_at=ms("fired_at") or 0,
        resolved_at=ms("resolved_at"),
        acknowledged_at=ms("acknowledged_at"),
        acknowledged_by=of.acknowledged_by,
        silenced_until=ms("silenced_until"),
        detail=of.detail,
    )
