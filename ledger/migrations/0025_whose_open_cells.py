"""Open cells say whose they are, so that nobody has to ask their runs."""

import django.db.models.deletion
from django.db import migrations, models

from ledger import sql


def workspace(*, null: bool) -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        to="ledger.workspace", on_delete=django.db.models.deletion.DO_NOTHING, db_constraint=False, db_index=False, null=null
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0024_since")]

    operations = [
        migrations.AddField("opencell", "workspace", workspace(null=True)),
        migrations.RunSQL(sql.text("opencell_workspace"), migrations.RunSQL.noop),
        migrations.AlterField("opencell", "workspace", workspace(null=False)),
    ]
