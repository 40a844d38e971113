"""What there is to hold: pools and machines, and the capacity that sources report of them."""

from django.db import models
from django.db.models import Q

from ledger.models.tenancy import Cluster


class Pool(models.Model):
    """Pool 0 is "none", shared by all clusters."""

    cluster = models.ForeignKey(Cluster, models.CASCADE, null=True)
    name = models.CharField(max_length=253)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="pool_name"),
            models.CheckConstraint(condition=Q(id=0) | Q(cluster__isnull=False), name="pool_has_cluster"),
        ]


class Machine(models.Model):
    """Machine 0 is "unplaced" (not held) and 1 "unknown" (held on a machine nobody named), shared by all clusters."""

    cluster = models.ForeignKey(Cluster, models.CASCADE, null=True)
    name = models.CharField(max_length=253)
    pool = models.ForeignKey(Pool, models.PROTECT, default=0)
    gpus_milli = models.PositiveIntegerField(null=True)
    ready = models.BooleanField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="machine_name"),
            models.CheckConstraint(condition=Q(id__lte=1) | Q(cluster__isnull=False), name="machine_has_cluster"),
        ]


class Capacity(models.Model):
    """The largest capacity reported of a machine in an hour, and the last one, which holds until the next report."""

    pk = models.CompositePrimaryKey("machine_id", "hour")
    machine = models.ForeignKey(Machine, models.CASCADE)
    hour = models.DateTimeField()
    largest_milli = models.PositiveIntegerField()
    last_milli = models.PositiveIntegerField()


class Readiness(models.Model):
    """When a machine became ready, or stopped being it; it holds until the next row."""

    pk = models.CompositePrimaryKey("machine_id", "at")
    machine = models.ForeignKey(Machine, models.CASCADE, db_index=False)
    at = models.DateTimeField()
    ready = models.BooleanField()
