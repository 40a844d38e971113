"""Roll-ups of weeks of machines, and of the hours of the running day: see ledger/sql/rollups_begin.sql."""

import django.db.models.deletion
from django.db import migrations, models

from ledger import sql


def part(to: str) -> models.ForeignKey:
    return models.ForeignKey(
        db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to=f"ledger.{to}"
    )


def key(*names: str) -> models.CompositePrimaryKey:
    return models.CompositePrimaryKey(*names, blank=True, editable=False, primary_key=True, serialize=False)


LINES = (
    "productive", "idle", "stalled", "starting", "restart", "failure", "preemption", "waiting",
    "unobserved", "unobserved_productive",
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0014_conditions")]

    operations = [
        migrations.CreateModel(
            name="DirtyHour",
            fields=[
                ("pk", key("cluster_id", "hour")),
                ("hour", models.DateTimeField()),
                ("cluster", part("cluster")),
            ],
        ),
        migrations.CreateModel(
            name="WeekMachine",
            fields=[
                *((line, models.BigIntegerField(null=True)) for line in LINES),
                ("pk", key("cluster_id", "week", "workspace_id", "machine_id", "pool_id")),
                ("week", models.DateTimeField()),
                ("cluster", part("cluster")),
                ("machine", part("machine")),
                ("pool", part("pool")),
                ("workspace", part("workspace")),
            ],
            options={"abstract": False},
        ),
        migrations.RunSQL(sql.text("rollups_begin"), migrations.RunSQL.noop),
    ]
