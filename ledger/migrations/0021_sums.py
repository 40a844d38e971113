"""A sum of bigints that stays one: see ledger/sql/sums_schema.sql."""

from django.db import migrations

from ledger import sql


class Migration(migrations.Migration):

    dependencies = [
        ("ledger", "0020_folds"),
    ]

    operations = [migrations.RunSQL(sql.text("sums_schema"), "DROP AGGREGATE ledger_sum(bigint)")]
