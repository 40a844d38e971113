"""What a worker does instead of steps, and its last step times."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0006_people")]

    operations = [
        migrations.AddField("worker", "doing", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("worker", "recent", ArrayField(models.IntegerField(), default=list)),
    ]
