"""Roll-ups of three hours, and of machines without workspaces: see ledger/sql/eighths_begin.sql and totals_begin.sql."""

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


def table(name: str, *key: str) -> migrations.CreateModel:
    return migrations.CreateModel(
        name=name,
        fields=[
            *((line, models.BigIntegerField(null=True)) for line in LINES),
            (
                "pk",
                models.CompositePrimaryKey(
                    "cluster_id", "eighth", *key, blank=True, editable=False, primary_key=True, serialize=False
                ),
            ),
            ("eighth", models.DateTimeField()),
            ("cluster", part("cluster")),
            *((each.removesuffix("_id"), part(each.removesuffix("_id"))) for each in key if each.endswith("_id")),
            *((each, models.BooleanField()) for each in key if not each.endswith("_id")),
        ],
        options={"abstract": False},
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0025_whose_open_cells")]

    operations = [
        table("EighthRun", "run_id", "held"),
        table("EighthMachine", "workspace_id", "machine_id", "pool_id"),
        migrations.RunSQL(sql.text("eighths_begin"), migrations.RunSQL.noop),
        migrations.RunSQL(sql.text("totals_begin"), migrations.RunSQL.noop),
    ]
