"""What Celery runs: each task finds its work by itself, so a task that is lost, late or twice changes no number."""

import logging
from time import monotonic

from celery import shared_task
from django.conf import settings

from ledger import throttling
from ledger.alerts import evaluate
from ledger.categorizer import categorize as categorize_cluster_now
from ledger.core.steady import ClockJump
from ledger.core.windows import DAY
from ledger.measuring.answers import freeze_due
from ledger.models import Cluster
from ledger.notify.digest import put_digests
from ledger.notify.message import Setup
from ledger.notify.outbox import send_due
from ledger.queries import now
from ledger.retention import EdgeLeaps, prune_changes
from ledger.retention import prune as prune_cluster_now
from ledger.straggling import look

log = logging.getLogger(__name__)


@shared_task(name="ledger.tasks.categorize", ignore_result=True)
def categorize() -> None:
    """Hand each cluster's minute to a worker; what waits for over a minute is outdated by the next."""
    for cluster in Cluster.objects.values_list("pk", flat=True):
        categorize_cluster.apply_async((cluster,), expires=55)


@shared_task(name="ledger.tasks.categorize_cluster", ignore_result=True)
def categorize_cluster(cluster: int) -> None:
    """Count one cluster's minute."""
    found = Cluster.objects.filter(pk=cluster).first()
    if found is None:
        return
    began = monotonic()
    try:
        categorize_cluster_now(found)
        look(found)
    except ClockJump as jump:
        log.warning("%s is not counted: %s", found, jump)
    else:
        Cluster.objects.filter(pk=cluster).update(count_ms=round((monotonic() - began) * 1000))


@shared_task(name="ledger.tasks.prune", ignore_result=True)
def prune() -> None:
    """Remove what is over 400 days old of every cluster, and old lines of the audit log."""
    for cluster in Cluster.objects.all():
        try:
            pruned = prune_cluster_now(cluster.pk)
        except (ClockJump, EdgeLeaps) as doubt:
            log.warning("%s is not pruned: %s", cluster, doubt)
        else:
            if pruned.rows or pruned.months:
                log.info("%s: %d rows and %d months removed", cluster, pruned.rows, pruned.months)
    prune_changes(now() - settings.AUDIT_KEEP_DAYS * DAY)


@shared_task(name="ledger.tasks.freeze_measurements", ignore_result=True)
def freeze_measurements() -> None:
    """Freeze the log goodput of the runs that are over."""
    freeze_due(now())


@shared_task(name="ledger.tasks.evaluate_alerts", ignore_result=True)
def evaluate_alerts() -> None:
    """Judge what hours became final of every cluster, and what is true now."""
    for cluster in Cluster.objects.all():
        try:
            evaluate(cluster.pk)
        except ClockJump as jump:
            log.warning("%s is not judged: %s", cluster, jump)


@shared_task(name="ledger.tasks.sweep_buckets", ignore_result=True)
def sweep_buckets() -> None:
    """Forget who asked how often, where they may ask again."""
    throttling.sweep()


@shared_task(name="ledger.tasks.send_notifications", ignore_result=True)
def send_notifications() -> None:
    """Send what is due: alerts that fired or are over, and the digest of the week that is over."""
    put_digests(now())
    send_due(setup())


def setup() -> Setup:
    """Return what the operator set up of notifications."""
    return Setup(
        site=settings.SITE_URL.rstrip("/"),
        mail_from=settings.EMAIL_FROM if settings.EMAIL_HOST else "",
        networks=tuple(settings.NOTIFY_NETWORKS),
        ports=tuple(settings.NOTIFY_PORTS),
    )
