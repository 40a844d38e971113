"""Partitions, exclusion and storage: see ledger/sql/schema.sql."""

from django.db import migrations

from ledger import sql


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]

    operations = [migrations.RunSQL(sql.text("schema"), migrations.RunSQL.noop)]
