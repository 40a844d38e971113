"""The edge before which nothing is kept: see ledger/retention.py."""

from django.db import migrations, models

from ledger import sql


class Migration(migrations.Migration):
    dependencies = [("ledger", "0007_doing")]

    operations = [
        migrations.AddField(model_name="cluster", name=name, field=models.DateTimeField(null=True))
        for name in ("kept_from", "pruned_to", "pruned_at")
    ] + [migrations.RunSQL(sql.text("prune_schema"), "DROP FUNCTION ledger_drop_partition(text)")]
