"""Log goodput: profiles in their versions, a run's measurement, and what was read of its logs."""

from django.db import models
from django.db.models.functions import Now

from ledger.models.runs import Run
from ledger.models.tenancy import Organization


class LogProfile(models.Model):
    """A version of an organization's profile; its resource as it was given. Only `retired` ever changes."""

    organization = models.ForeignKey(Organization, models.CASCADE)
    name = models.CharField(max_length=253)
    version = models.PositiveIntegerField()
    document = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.CharField(max_length=253, default="")
    retired = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "name", "version"], name="log_profile_version")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Measurement(models.Model):
    """A run's goodput by its logs, under the version of the profile that it began with (0: a built-in one).

    `windows` counts what was stored, the last of it at `touched_at`.
    `frozen` is the answer for ever, byte by byte, once the run is over; `picture` what the page draws beside it.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True)
    profile = models.CharField(max_length=253)
    version = models.PositiveIntegerField(default=0)
    document = models.JSONField(null=True)
    sample_interval_seconds = models.PositiveIntegerField(default=60)
    thresholds = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())
    touched_at = models.DateTimeField(db_default=Now())
    windows = models.BigIntegerField(default=0)
    events = models.BigIntegerField(default=0)
    frozen = models.TextField(null=True)
    picture = models.JSONField(null=True)
    frozen_at = models.DateTimeField(null=True)


class LogStream(models.Model):
    """The log of one worker in one attempt. `covered`: the lines that were read, [from, to) each; `last_at` in µs.

    A log without line numbers is numbered as it comes; `tail` are the hashes of its last lines, by which a window
    that overlaps them is joined, and `seen` those of its last windows.
    """

    measurement = models.ForeignKey(Measurement, models.CASCADE)
    attempt = models.PositiveIntegerField()
    worker = models.CharField(max_length=253)
    numbered = models.BooleanField()
    covered = models.JSONField(default=list)
    tail = models.JSONField(default=list)
    seen = models.JSONField(default=list)
    lines = models.BigIntegerField(default=0)
    octets = models.BigIntegerField(default=0)
    dropped = models.BigIntegerField(default=0)
    last_at = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["measurement", "attempt", "worker", "numbered"], name="log_stream_once")
        ]


class LogChunk(models.Model):
    """The events of lines that follow each other, the first of them number `first`; packed."""

    stream = models.ForeignKey(LogStream, models.CASCADE, db_index=False)
    first = models.BigIntegerField()
    packed = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "first"], name="log_chunk_once")]
        indexes = [models.Index(fields=["stream", "id"], name="log_chunk_newer")]


class LogFold(models.Model):
    """The fold of a measurement as far as its logs were read once, so that a read costs what is new; packed.

    It can be thrown away. `form` tells of which code it is: another one makes it anew.
    """

    measurement = models.OneToOneField(Measurement, models.CASCADE, primary_key=True)
    form = models.CharField(max_length=32)
    packed = models.BinaryField()
