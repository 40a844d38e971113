"""Since when a worker has been in a category: see ledger/sql/since_schema.sql."""

from django.db import migrations

from ledger import sql


class Migration(migrations.Migration):

    dependencies = [
        ("ledger", "0023_weekrun"),
    ]

    operations = [
        migrations.RunSQL(sql.text("since_schema"), "DROP FUNCTION ledger_in_since(bigint, smallint, timestamptz)"),
    ]
