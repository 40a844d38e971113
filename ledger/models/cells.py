"""The ledgers: open cells that tick by themselves, closed hours, and roll-ups of days."""

from django.db import models
from django.db.models import Q

from ledger.core.postings import LINES
from ledger.models.fleet import Machine, Pool
from ledger.models.runs import Run
from ledger.models.tenancy import Cluster, Workspace


class Amounts(models.Model):
    """GPU-microseconds by line; null is nothing."""

    productive = models.BigIntegerField(null=True)
    idle = models.BigIntegerField(null=True)
    stalled = models.BigIntegerField(null=True)
    starting = models.BigIntegerField(null=True)
    restart = models.BigIntegerField(null=True)
    failure = models.BigIntegerField(null=True)
    preemption = models.BigIntegerField(null=True)
    waiting = models.BigIntegerField(null=True)
    unobserved = models.BigIntegerField(null=True)
    unobserved_productive = models.BigIntegerField(null=True)

    class Meta:
        abstract = True


NEVER_UNPLACED = ("productive", "idle", "starting", "restart", "unobserved_productive")


def _not_negative(prefix: str = "") -> Q:
    """An unset amount passes: a check that is null is no violation."""
    condition = Q()
    for line in LINES:
        condition &= Q(**{f"{prefix}{line}__gte": 0})
    return condition


def _placed_as_it_should(prefix: str = "") -> Q:
    """Machine 0 holds only waits, and waiting is only there."""
    unplaced = Q(machine=0)
    for line in NEVER_UNPLACED:
        unplaced &= Q(**{f"{prefix}{line}": 0}) if prefix else Q(**{f"{line}__isnull": True})
    placed = Q(**{f"{prefix}waiting": 0}) if prefix else Q(waiting__isnull=True)
    return unplaced | (~Q(machine=0) & placed)


class OpenCell(models.Model):
    """A cell of its cluster's open hour H: a line's value at t is a + g × (t − H); g in milli-GPUs, t in ms."""

    pk = models.CompositePrimaryKey("cluster_id", "run_id", "machine_id", "pool_id")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, db_index=False, db_constraint=False)
    run = models.ForeignKey(Run, models.DO_NOTHING, db_index=False, db_constraint=False)
    machine = models.ForeignKey(Machine, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)
    g_productive = models.BigIntegerField(db_default=0)
    g_idle = models.BigIntegerField(db_default=0)
    g_stalled = models.BigIntegerField(db_default=0)
    g_starting = models.BigIntegerField(db_default=0)
    g_restart = models.BigIntegerField(db_default=0)
    g_failure = models.BigIntegerField(db_default=0)
    g_preemption = models.BigIntegerField(db_default=0)
    g_waiting = models.BigIntegerField(db_default=0)
    g_unobserved = models.BigIntegerField(db_default=0)
    g_unobserved_productive = models.BigIntegerField(db_default=0)
    a_productive = models.BigIntegerField(db_default=0)
    a_idle = models.BigIntegerField(db_default=0)
    a_stalled = models.BigIntegerField(db_default=0)
    a_starting = models.BigIntegerField(db_default=0)
    a_restart = models.BigIntegerField(db_default=0)
    a_failure = models.BigIntegerField(db_default=0)
    a_preemption = models.BigIntegerField(db_default=0)
    a_waiting = models.BigIntegerField(db_default=0)
    a_unobserved = models.BigIntegerField(db_default=0)
    a_unobserved_productive = models.BigIntegerField(db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=_not_negative("g_"), name="open_cell_rates"),
            models.CheckConstraint(condition=_placed_as_it_should("g_"), name="open_cell_placed"),
        ]


class LedgerHour(Amounts):
    """A closed hour of a cell. Partitioned by month of `hour`; an empty row is deleted."""

    pk = models.CompositePrimaryKey("cluster_id", "hour", "run_id", "machine_id", "pool_id")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    hour = models.DateTimeField()
    run = models.ForeignKey(Run, models.DO_NOTHING, db_index=False, db_constraint=False)
    machine = models.ForeignKey(Machine, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)

    class Meta:
        db_table = "ledger_hour"
        constraints = [
            models.CheckConstraint(condition=_not_negative(), name="ledger_hour_not_negative"),
            models.CheckConstraint(condition=_placed_as_it_should(), name="ledger_hour_placed"),
        ]


class Revision(models.Model):
    """An hour that later evidence moved after it was final."""

    pk = models.CompositePrimaryKey("cluster_id", "hour")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    hour = models.DateTimeField()
    revised_at = models.DateTimeField()


class DirtyDay(models.Model):
    """A day whose roll-ups have yet to be made again, of the running one those up to `rolled_to`."""

    pk = models.CompositePrimaryKey("cluster_id", "day")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    day = models.DateTimeField()


class DirtyHour(models.Model):
    """A closed hour of the running day whose roll-up has yet to be made again; when the day is over, the day is."""

    pk = models.CompositePrimaryKey("cluster_id", "hour")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    hour = models.DateTimeField()


class EighthRun(Amounts):
    """A run's three hours in a pool from `eighth` on (0, 3, … 21 o'clock UTC); `held` as in DayRun."""

    pk = models.CompositePrimaryKey("cluster_id", "eighth", "run_id", "pool_id", "held")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    eighth = models.DateTimeField()
    run = models.ForeignKey(Run, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)
    held = models.BooleanField()


class EighthMachine(Amounts):
    pk = models.CompositePrimaryKey("cluster_id", "eighth", "workspace_id", "machine_id", "pool_id")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    eighth = models.DateTimeField()
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, db_index=False, db_constraint=False)
    machine = models.ForeignKey(Machine, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)


class DayRun(Amounts):
    """A run's day in a pool; `held` keeps time on machines apart from waits."""

    pk = models.CompositePrimaryKey("cluster_id", "day", "run_id", "pool_id", "held")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    day = models.DateTimeField()
    run = models.ForeignKey(Run, models.DO_NOTHING, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)
    held = models.BooleanField()


class DayMachine(Amounts):
    pk = models.CompositePrimaryKey("cluster_id", "day", "workspace_id", "machine_id", "pool_id")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    day = models.DateTimeField()
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, db_index=False, db_constraint=False)
    machine = models.ForeignKey(Machine, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)


class WeekMachine(Amounts):
    """The sum of a week's days that are rolled up."""

    pk = models.CompositePrimaryKey("cluster_id", "week", "workspace_id", "machine_id", "pool_id")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    week = models.DateTimeField()
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, db_index=False, db_constraint=False)
    machine = models.ForeignKey(Machine, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)


class WeekRun(Amounts):
    """The sum of the days of a run in a pool in a week that are rolled up; `held` as in DayRun."""

    pk = models.CompositePrimaryKey("cluster_id", "week", "run_id", "pool_id", "held")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    week = models.DateTimeField()
    run = models.ForeignKey(Run, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)
    held = models.BooleanField()


class DayPool(Amounts):
    pk = models.CompositePrimaryKey("cluster_id", "day", "workspace_id", "pool_id", "held")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    day = models.DateTimeField()
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)
    held = models.BooleanField()


class HourPool(Amounts):
    pk = models.CompositePrimaryKey("cluster_id", "hour", "workspace_id", "pool_id", "held")
    cluster = models.ForeignKey(Cluster, models.DO_NOTHING, db_index=False, db_constraint=False)
    hour = models.DateTimeField()
    workspace = models.ForeignKey(Workspace, models.DO_NOTHING, db_index=False, db_constraint=False)
    pool = models.ForeignKey(Pool, models.DO_NOTHING, db_index=False, db_constraint=False)
    held = models.BooleanField()


class RunTotal(Amounts):
    """All the kept days of a run that are over."""

    pk = models.CompositePrimaryKey("run_id", "held")
    run = models.ForeignKey(Run, models.DO_NOTHING, db_index=False, db_constraint=False)
    held = models.BooleanField()
