"""Who asks for time: organizations, their clusters and workspaces, and who may see them."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now, TruncHour


class Organization(models.Model):
    """`currency` is what its prices are in, an ISO 4217 code."""

    name = models.CharField(max_length=253, unique=True)
    currency = models.CharField(max_length=3, db_default="USD")

    def __str__(self) -> str:
        return self.name


class Workspace(models.Model):
    organization = models.ForeignKey(Organization, models.CASCADE)
    name = models.CharField(max_length=253)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "name"], name="workspace_name")]

    def __str__(self) -> str:
        return f"{self.organization.name}/{self.name}"


class Cluster(models.Model):
    """The unit of counting, with its clock and the settings that act when a sample arrives.

    `open_hour` is the running hour of its open cells; `checked_to` is up to where words that ran out and dated
    settings have been looked at; every hour before `final_to` is final; before `first_hour` nothing is revised;
    `count_ms` is how long the last count took. A worker is a straggler from `straggler_milli`
    thousandths of its gang's step time on. Nothing before `kept_from` is kept (null: all of it is);
    what stood before is removed up to `pruned_to`; `pruned_at` is when pruning last had nothing left to do.
    The `drop_…` are the numbers of `ledger.core.alerting.Limits`; every hour before `judged_to` has been judged.
    """

    organization = models.ForeignKey(Organization, models.CASCADE)
    name = models.CharField(max_length=253)
    auto_workspaces = models.BooleanField(default=True)
    busy_threshold_milli_percent = models.PositiveIntegerField(default=5_000)
    stall_after_ms = models.PositiveIntegerField(default=600_000)
    carry_max_ms = models.PositiveIntegerField(default=300_000)
    straggler_milli = models.PositiveIntegerField(default=1_300, db_default=1_300)
    open_hour = models.DateTimeField(db_default=TruncHour(Now()))
    first_hour = models.DateTimeField(db_default=TruncHour(Now()))
    final_to = models.DateTimeField(db_default=TruncHour(Now()))
    checked_to = models.DateTimeField(db_default=Now())
    counted_until = models.DateTimeField(null=True)
    categorized_at = models.DateTimeField(null=True)
    count_ms = models.PositiveIntegerField(null=True)
    kept_from = models.DateTimeField(null=True)
    pruned_to = models.DateTimeField(null=True)
    pruned_at = models.DateTimeField(null=True)
    drop_below_milli_percent = models.PositiveIntegerField(default=50_000)
    drop_points_milli = models.PositiveIntegerField(default=20_000)
    drop_least_held_us = models.BigIntegerField(default=3_600_000_000)
    judged_to = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "name"], name="cluster_name")]

    def __str__(self) -> str:
        return f"{self.organization.name}/{self.name}"


class ClusterRule(models.Model):
    """Dated settings of a cluster, in force from the whole hour `since` on."""

    pk = models.CompositePrimaryKey("cluster_id", "since")
    cluster = models.ForeignKey(Cluster, models.CASCADE)
    since = models.DateTimeField()
    unmeasured_as = models.PositiveSmallIntegerField(default=0)
    readings_expected = models.BooleanField(default=True)


class Membership(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    workspace = models.ForeignKey(Workspace, models.CASCADE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "workspace"], name="membership_once")]


class Administration(models.Model):
    """An organization's admin sees every workspace of it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    organization = models.ForeignKey(Organization, models.CASCADE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "organization"], name="administration_once")]
