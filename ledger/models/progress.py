"""How training goes: what input pipelines cost, and who was slower than its gang."""

from django.db import models
from django.db.models import Q

from ledger.models.fleet import Machine
from ledger.models.runs import Worker


class PipelineHour(models.Model):
    """What a worker's input pipeline took in an hour, in microseconds; `at` is the newest report that is in it."""

    pk = models.CompositePrimaryKey("worker_id", "hour")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    hour = models.DateTimeField()
    at = models.DateTimeField()
    batches = models.BigIntegerField()
    wall_us = models.BigIntegerField()
    source_us = models.BigIntegerField()
    transform_us = models.BigIntegerField()
    transfer_us = models.BigIntegerField()


class Straggle(models.Model):
    """A worker is slower than its gang, or behind it, since `since`; `confirmed`: for long enough to say so.

    `step_ms`, `gang_ms` and `behind` are as at the newest look, `seen_at` its newest sample then.
    """

    pk = models.CompositePrimaryKey("worker_id", "since")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    machine = models.ForeignKey(Machine, models.PROTECT, db_index=False, db_constraint=False)
    since = models.DateTimeField()
    seen_at = models.DateTimeField()
    until = models.DateTimeField(null=True)
    confirmed = models.BooleanField(default=False)
    step_ms = models.IntegerField()
    gang_ms = models.IntegerField()
    behind = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker"], condition=Q(until__isnull=True), name="straggle_once")
        ]
        indexes = [models.Index(fields=["machine"], condition=Q(confirmed=True), name="straggle_machine")]
