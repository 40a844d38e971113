"""The facts: states as a set, what samples left, what was watched; and the spans folded from them."""

from django.db import models
from django.db.models import Q

from ledger.models.fleet import Machine, Pool
from ledger.models.runs import Worker
from ledger.models.tenancy import Cluster


class Source(models.Model):
    """An agent: its last word, and its last complete list that counted; `held_since`: lists put aside since then.

    `heard_at` is the newest instant at which what it said was counted.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE)
    name = models.CharField(max_length=253)
    word_at = models.DateTimeField(null=True)
    heard_at = models.DateTimeField(null=True)
    list_at = models.DateTimeField(null=True)
    held_since = models.DateTimeField(null=True)
    confirmed = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="source_name")]


class Word(models.Model):
    """A range that a source's words cover; the ranges of one source are disjoint."""

    pk = models.CompositePrimaryKey("source_id", "lower")
    source = models.ForeignKey(Source, models.CASCADE)
    lower = models.DateTimeField()
    upper = models.DateTimeField()


class Listing(models.Model):
    """A worker that a source's complete lists name, or lack since `missing_since` (`proof`: the last that had it)."""

    pk = models.CompositePrimaryKey("source_id", "worker_id")
    source = models.ForeignKey(Source, models.CASCADE)
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    missing_since = models.DateTimeField(null=True)
    proof = models.DateTimeField(null=True)
    stored = models.BooleanField(default=False)


class State(models.Model):
    """A stored state; attempt 0 and phase 0 = not given. `folded` is the folded state after it."""

    pk = models.CompositePrimaryKey("worker_id", "at", "attempt", "phase", "content")
    cluster = models.ForeignKey(Cluster, models.CASCADE, db_index=False, db_constraint=False)
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    at = models.DateTimeField()
    attempt = models.PositiveIntegerField()
    phase = models.PositiveSmallIntegerField()
    content = models.TextField(db_collation="C")
    reason = models.CharField(max_length=16)
    gpus_milli = models.PositiveIntegerField(null=True)
    machine = models.ForeignKey(Machine, models.PROTECT, null=True, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.PROTECT, null=True, db_index=False, db_constraint=False)
    stalled = models.BooleanField(null=True)
    source = models.ForeignKey(Source, models.PROTECT, db_index=False, db_constraint=False)
    folded = models.JSONField(null=True)


class GoneRow(models.Model):
    """A source's complete lists lack the worker: see `ledger.core.facts.Gone`."""

    pk = models.CompositePrimaryKey("worker_id", "source_id", "at")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    source = models.ForeignKey(Source, models.PROTECT, db_index=False, db_constraint=False)
    at = models.DateTimeField()
    missing_since = models.DateTimeField()
    proof = models.DateTimeField()

    class Meta:
        db_table = "ledger_gone"


class FlipRow(models.Model):
    pk = models.CompositePrimaryKey("worker_id", "at")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    at = models.DateTimeField()
    busy = models.BooleanField()

    class Meta:
        db_table = "ledger_flip"


class StallRow(models.Model):
    pk = models.CompositePrimaryKey("worker_id", "progress_at")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    progress_at = models.DateTimeField()
    proof_at = models.DateTimeField()
    until = models.DateTimeField(null=True)

    class Meta:
        db_table = "ledger_stall"


class Covered(models.Model):
    """A complete range [lower, upper) that a worker's readings cover; the open last one stands in its row."""

    pk = models.CompositePrimaryKey("worker_id", "lower")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    lower = models.DateTimeField()
    upper = models.DateTimeField()


class Told(models.Model):
    """A complete range [lower, upper) in which a worker's steps followed each other closely."""

    pk = models.CompositePrimaryKey("worker_id", "lower")
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    lower = models.DateTimeField()
    upper = models.DateTimeField()


class Span(models.Model):
    """A worker's time in one category, derived from its facts; `until` null = still. They never overlap."""

    pk = models.CompositePrimaryKey("worker_id", "since")
    cluster = models.ForeignKey(Cluster, models.CASCADE, db_index=False, db_constraint=False)
    worker = models.ForeignKey(Worker, models.CASCADE, db_index=False)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    category = models.PositiveSmallIntegerField()
    unobserved = models.BooleanField()
    gpus_milli = models.PositiveIntegerField()
    machine = models.ForeignKey(Machine, models.PROTECT, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.PROTECT, db_index=False, db_constraint=False)
    attempt = models.PositiveIntegerField()
    source = models.ForeignKey(Source, models.PROTECT, db_index=False, db_constraint=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(until__isnull=True) | Q(until__gt=models.F("since")), name="span_lasts"),
        ]
        indexes = [
            models.Index(fields=["source"], condition=Q(until__isnull=True), name="span_open"),
            models.Index(fields=["source"], condition=Q(unobserved=True), name="span_unobserved"),
        ]
