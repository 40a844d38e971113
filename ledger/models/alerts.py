"""Alerts: what has begun to need somebody, and until when; each is one row, open or over."""

from django.db import models
from django.db.models import Q

from ledger.models.runs import Run
from ledger.models.tenancy import Cluster, Workspace

RULES = ("goodput_drop", "source_stale", "ledger_late", "workers_vanished", "run_below_threshold", "prune_late")


class Alert(models.Model):
    """Of a rule about a subject of a cluster; with a workspace its members see it, else who sees all of the cluster.

    `subject` tells subjects of one rule apart ("workspace/7"), `name` is what people call it, `hour` the final hour
    that was judged, or when it was seen; `told_at` is the last hour that said anything of it.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE)
    workspace = models.ForeignKey(Workspace, models.CASCADE, null=True)
    run = models.ForeignKey(Run, models.CASCADE, null=True)
    rule = models.CharField(max_length=32)
    subject = models.CharField(max_length=300)
    name = models.CharField(max_length=253)
    pool = models.CharField(max_length=253, default="")
    hour = models.DateTimeField()
    told_at = models.DateTimeField()
    fired_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)
    detail = models.JSONField(default=dict)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=253, default="")
    silenced_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "rule", "subject"], condition=Q(resolved_at__isnull=True), name="alert_one_open"
            ),
            models.UniqueConstraint(fields=["cluster", "rule", "subject", "hour"], name="alert_one_an_hour"),
            models.CheckConstraint(condition=Q(rule__in=RULES), name="alert_rule"),
        ]
        indexes = [
            models.Index(fields=["workspace", "fired_at"], name="alert_of_workspace"),
            models.Index(fields=["cluster", "fired_at"], name="alert_of_cluster"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} {self.name}"
