"""What a person does about an alert: says that they know, or wants to hear no more of it for some time."""

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from ledger import audit
from ledger.models import Alert


def acknowledge(alert: int, by: str) -> None:
    """Note who knows of an alert; who said so first stays."""
    with transaction.atomic():
        if Alert.objects.filter(pk=alert, acknowledged_at=None).update(acknowledged_at=Now(), acknowledged_by=by):
            keep("alert_acknowledged", Alert.objects.get(pk=alert))


def silence(alert: int, hours: int) -> None:
    """Send nothing of an alert, nor of the same when it comes back, for so many hours; 0: send again."""
    until = Now() + timedelta(hours=hours) if hours else None
    with transaction.atomic():
        of = Alert.objects.filter(pk=alert).first()
        if of is None:  # pruned meanwhile
            return
        Alert.objects.filter(cluster=of.cluster_id, rule=of.rule, subject=of.subject).update(silenced_until=until)
        keep("alert_silenced", of, hours=hours)


def keep(what: str, alert: Alert, **more: int) -> None:
    """Keep what was done about an alert with who may do what: a silence hides what is wrong."""
    workspace = None if alert.workspace is None else alert.workspace.name
    of = {"cluster": alert.cluster.name, "workspace": workspace, "rule": alert.rule, "name": alert.name}
    audit.record(what, alert.cluster.organization.name, **of, **more)
