"""Roll-ups of weeks of runs: see ledger/sql/weekrun_begin.sql."""

import django.db.models.deletion
from django.db import migrations, models

from ledger import sql

LINES = (
    "productive", "idle", "stalled", "starting", "restart", "failure", "preemption", "waiting",
    "unobserved", "unobserved_productive",
)  # fmt: skip


def part(model: str) -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        to=f"ledger.{model}", on_delete=django.db.models.deletion.DO_NOTHING, db_constraint=False, db_index=False
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0022_running")]

    operations = [
        migrations.CreateModel(
            name="WeekRun",
            fields=[
                *((line, models.BigIntegerField(null=True)) for line in LINES),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "cluster_id", "week", "run_id", "held",
                        blank=True, editable=False, primary_key=True, serialize=False,
                    ),
                ),
                ("week", models.DateTimeField()),
                ("held", models.BooleanField()),
                ("cluster", part("cluster")),
                ("run", part("run")),
            ],
            options={"abstract": False},
        ),
        migrations.RunSQL(sql.text("weekrun_begin"), migrations.RunSQL.noop),
    ]  # fmt: skip
