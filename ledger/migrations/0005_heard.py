"""Up to where anything of a cluster was counted: see ledger/sql/clock_counted.sql."""

from django.db import migrations, models

from ledger import sql


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_audit")]

    operations = [
        migrations.AddField(model_name="source", name="heard_at", field=models.DateTimeField(null=True)),
        migrations.RunSQL(sql.text("clock_counted"), "DROP FUNCTION ledger_counted(bigint)"),
    ]
