"""Which pod a worker is and which devices it has: how readings of GPUs find their worker."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_kept")]

    operations = [
        migrations.AddField(
            model_name="worker", name="pod", field=models.CharField(max_length=512, default="", db_default="")
        ),
        migrations.AddField(model_name="worker", name="devices", field=models.TextField(default="", db_default="")),
    ]
