"""Who is told of alerts and how, and the outbox of what is yet to be told."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from ledger.models.alerts import Alert
from ledger.models.tenancy import Workspace

KINDS = ("email", "webhook", "service")


class Channel(models.Model):
    """A way to tell of a workspace's alerts, and of its organization's clusters' if `clusters`.

    `pools`: of alerts about a pool only those of these (empty: all); `secret` signs what a webhook gets; `digest`: the
    weekly one is sent.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE)
    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=100)
    target = models.TextField()
    secret = models.CharField(max_length=64, default="")
    pools = ArrayField(models.CharField(max_length=253), default=list)
    clusters = models.BooleanField(default=False)
    digest = models.BooleanField(default=False)
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="channel_name"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="channel_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Delivery(models.Model):
    """Something to be told by a channel: `event` of an alert, a test, or a digest of a week.

    It is claimed for as long as `leased_until`, sent or given up (`dead_at`, and why); `key` is the same each time.
    """

    channel = models.ForeignKey(Channel, models.CASCADE)
    alert = models.ForeignKey(Alert, models.CASCADE, null=True)
    event = models.CharField(max_length=32)
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    made_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now())
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)
    error = models.TextField(default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "alert", "event"], condition=Q(alert__isnull=False), name="delivery_of_alert"
            ),
            models.UniqueConstraint(
                fields=["channel", "event"], condition=Q(event__startswith="digest"), name="delivery_of_digest"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(sent_at=None, dead_at=None), name="delivery_waits"),
            models.Index(fields=["channel", "-made_at"], name="delivery_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.event} by {self.channel_id}"
