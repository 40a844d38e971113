"""The running day is rolled up as well, as far as it went some hours ago: see ledger/sql/running_schema.sql."""

from django.db import migrations

from ledger import sql


class Migration(migrations.Migration):

    dependencies = [
        ("ledger", "0021_sums"),
    ]

    operations = [
        migrations.RunSQL(sql.text("running_schema"), "DROP FUNCTION ledger_rolled_to(timestamptz)"),
    ]
