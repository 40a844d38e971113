"""Channels, and the outbox of what is to be told."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("ledger", "0018_dayheld"),
    ]

    operations = [
        migrations.CreateModel(
            name='Channel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=16)),
                ('name', models.CharField(max_length=100)),
                ('target', models.TextField()),
                ('secret', models.CharField(default='', max_length=64)),
                ('pools', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=253), default=list, size=None)),
                ('clusters', models.BooleanField(default=False)),
                ('digest', models.BooleanField(default=False)),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='ledger.workspace')),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event', models.CharField(max_length=32)),
                ('key', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('leased_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('sent_at', models.DateTimeField(null=True)),
                ('dead_at', models.DateTimeField(null=True)),
                ('error', models.TextField(default='')),
                ('alert', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='ledger.alert')),
                ('channel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='ledger.channel')),
            ],
        ),
        migrations.AddConstraint(
            model_name='channel',
            constraint=models.UniqueConstraint(fields=('workspace', 'name'), name='channel_name'),
        ),
        migrations.AddConstraint(
            model_name='channel',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('email', 'webhook', 'service'))), name='channel_kind'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('dead_at', None), ('sent_at', None)), fields=['due_at'], name='delivery_waits'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['channel', '-made_at'], name='delivery_recent'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(condition=models.Q(('alert__isnull', False)), fields=('channel', 'alert', 'event'), name='delivery_of_alert'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(condition=models.Q(('event__startswith', 'digest')), fields=('channel', 'event'), name='delivery_of_digest'),
        ),
    ]
