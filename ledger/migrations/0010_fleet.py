"""The history of machines' readiness, and indexes for what is asked of one machine or pool."""

import django.db.models.deletion
from django.db import migrations, models

from ledger import sql


class Migration(migrations.Migration):
    dependencies = [("ledger", "0009_place")]

    operations = [
        migrations.CreateModel(
            name="Readiness",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "machine_id", "at", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("at", models.DateTimeField()),
                ("ready", models.BooleanField()),
                (
                    "machine",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ledger.machine"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(
            sql.text("fleet"), "DROP INDEX ledger_hour_machine, span_trouble_machine, span_trouble_pool"
        ),
    ]
