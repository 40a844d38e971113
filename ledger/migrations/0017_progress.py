"""What input pipelines take, who is slower than its gang, and from when on one is."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0016_bucket")]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="straggler_milli",
            field=models.PositiveIntegerField(db_default=1300, default=1300),
        ),
        migrations.CreateModel(
            name="PipelineHour",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "worker_id", "hour", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("hour", models.DateTimeField()),
                ("at", models.DateTimeField()),
                ("batches", models.BigIntegerField()),
                ("wall_us", models.BigIntegerField()),
                ("source_us", models.BigIntegerField()),
                ("transform_us", models.BigIntegerField()),
                ("transfer_us", models.BigIntegerField()),
                (
                    "worker",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ledger.worker"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Straggle",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "worker_id", "since", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("since", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("confirmed", models.BooleanField(default=False)),
                ("step_ms", models.IntegerField()),
                ("gang_ms", models.IntegerField()),
                ("behind", models.BigIntegerField()),
                (
                    "machine",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="ledger.machine",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ledger.worker"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("confirmed", True)), fields=["machine"], name="straggle_machine")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until__isnull", True)), fields=("worker",), name="straggle_once"
                    )
                ],
            },
        ),
    ]
