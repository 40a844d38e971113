"""Buckets of requests, in a table without a log: a request that only counts itself waits for no disk."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_rollups")]

    operations = [
        migrations.CreateModel(
            name="Bucket",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("spent", models.IntegerField()),
                ("until", models.DateTimeField()),
            ],
        ),
        migrations.RunSQL("ALTER TABLE ledger_bucket SET UNLOGGED", migrations.RunSQL.noop),
    ]
