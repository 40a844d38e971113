"""Runs and their workers: labels, and one narrow row per worker that its samples update in place."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from ledger.models.tenancy import Cluster, Workspace


class Run(models.Model):
    """One submitted job. All but the uid and the workspace are labels that move no time.

    `conditions` are its source's, in the words of the interface.
    `has_stalls`: some worker of it was once proven stalled by its steps, so its gang is counted together.
    `verdict`: whether it reached `min_goodput_milli` when it was over: pass, fail, no data; "" = not judged yet.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE)
    workspace = models.ForeignKey(Workspace, models.PROTECT)
    uid = models.CharField(max_length=253)
    name = models.CharField(max_length=253)
    kind = models.CharField(max_length=253, default="")
    user = models.CharField(max_length=253, default="")
    submitted_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=253, default="")
    min_goodput_milli = models.PositiveSmallIntegerField(null=True)
    conditions = models.JSONField(db_default=[])
    has_stalls = models.BooleanField(default=False)
    verdict = models.CharField(max_length=8, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="run_uid")]
        indexes = [
            models.Index(fields=["workspace", "name"], name="run_workspace_name"),
            models.Index(
                fields=["cluster", "ended_at"],
                condition=Q(min_goodput_milli__isnull=False, verdict=""),
                name="run_to_be_judged",
            ),
        ]


class Worker(models.Model):
    """One position in a run's gang. No index on what changes, so that updates stay in their page.

    `phase`, `stay_since`, `source` are folded at the last count; `due` is when time alone changes the worker next,
    apart from the end of its readings' coverage while it is `watched` by them;
    `pod` (namespace/name) and `devices` (commas between them) say which readings of GPUs are its own; the rest is
    the newest of its sample streams (`ledger.core.streams.Stream`).
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    name = models.CharField(max_length=253)
    phase = models.PositiveSmallIntegerField(default=0)
    stay_since = models.DateTimeField(null=True)
    due = models.DateTimeField(null=True)
    watched = models.BooleanField(default=False)
    busy_at = models.DateTimeField(null=True)
    busy = models.BooleanField(null=True)
    step_at = models.DateTimeField(null=True)
    step = models.BigIntegerField(null=True)
    step_ms = models.BigIntegerField(null=True)
    progress_at = models.DateTimeField(null=True)
    proven = models.BooleanField(default=False)
    covered_from = models.DateTimeField(null=True)
    covered_to = models.DateTimeField(null=True)
    told_from = models.DateTimeField(null=True)
    told_to = models.DateTimeField(null=True)
    doing = models.PositiveSmallIntegerField(default=0)
    recent = ArrayField(models.IntegerField(), default=list)
    pod = models.CharField(max_length=512, default="", db_default="")
    devices = models.TextField(default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="worker_name")]


class Refused(models.Model):
    """An item that was not counted, kept so that nothing is lost."""

    cluster = models.ForeignKey(Cluster, models.CASCADE)
    received_at = models.DateTimeField()
    source = models.CharField(max_length=253)
    list = models.CharField(max_length=16)
    index = models.IntegerField()
    field = models.CharField(max_length=64)
    error = models.TextField()
    item = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["cluster", "received_at"], name="refused_recent")]
