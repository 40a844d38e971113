"""Roll-ups of three hours, of runs by pool, of machines without workspaces: see ledger/sql/eighths_begin.sql and totals_begin.sql."""

import django.db.models.deletion
from django.db import migrations, models

from ledger import sql

LINES = (
    "productive", "idle", "stalled", "starting", "restart", "failure", "preemption", "waiting",
    "unobserved", "unobserved_productive",
)  # fmt: skip


def part(model: str, *, indexed: bool = False) -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        to=f"ledger.{model}", on_delete=django.db.models.deletion.DO_NOTHING, db_constraint=False, db_index=indexed
    )


def table(name: str, period: str, *names: str, indexed: str = "") -> migrations.CreateModel:
    """Return a roll-up by cluster, period and what the names name; `held` is a truth value."""
    parts = [each for each in names if each != "held"]
    key = ("cluster_id", period, *(f"{each}_id" for each in parts), *names[len(parts) :])
    return migrations.CreateModel(
        name=name,
        fields=[
            *((line, models.BigIntegerField(null=True)) for line in LINES),
            ("pk", models.CompositePrimaryKey(*key, blank=True, editable=False, primary_key=True, serialize=False)),
            (period, models.DateTimeField()),
            ("cluster", part("cluster")),
            *((each, part(each, indexed=each == indexed)) for each in parts),
            *((each, models.BooleanField()) for each in names[len(parts) :]),
        ],
        options={"abstract": False},
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0025_whose_open_cells")]

    operations = [
        migrations.DeleteModel("DayHeld"),
        migrations.DeleteModel("DayRun"),
        migrations.DeleteModel("WeekRun"),
        table("EighthRun", "eighth", "run", "pool", "held"),
        table("DayRun", "day", "run", "pool", "held", indexed="run"),
        table("WeekRun", "week", "run", "pool", "held"),
        table("EighthMachine", "eighth", "workspace", "machine", "pool"),
        migrations.RunSQL(sql.text("eighths_begin"), migrations.RunSQL.noop),
        migrations.RunSQL(sql.text("totals_begin"), migrations.RunSQL.noop),
    ]
