"""The conditions of runs, as their sources say them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0013_alerts")]

    operations = [
        migrations.AddField(model_name="run", name="conditions", field=models.JSONField(db_default=[])),
    ]
