"""What runs held by pool and day: prices are put on it."""

import django.db.models.deletion
from django.db import migrations, models


def part(model: str, *, index: bool = False) -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        to=f"ledger.{model}", on_delete=django.db.models.deletion.DO_NOTHING, db_constraint=False, db_index=index
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0017_progress")]

    operations = [
        migrations.CreateModel(
            name="DayHeld",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "cluster_id", "day", "run_id", "pool_id",
                        blank=True, editable=False, primary_key=True, serialize=False,
                    ),
                ),
                ("day", models.DateTimeField()),
                ("held", models.BigIntegerField()),
                ("productive", models.BigIntegerField()),
                ("cluster", part("cluster")),
                ("pool", part("pool")),
                ("run", part("run", index=True)),
            ],
        ),
    ]  # fmt: skip
