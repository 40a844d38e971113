"""Alerts, and the numbers by which they are judged."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("ledger", "0012_touched"),
    ]

    operations = [
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.CharField(max_length=32)),
                ('subject', models.CharField(max_length=300)),
                ('name', models.CharField(max_length=253)),
                ('pool', models.CharField(default='', max_length=253)),
                ('hour', models.DateTimeField()),
                ('told_at', models.DateTimeField()),
                ('fired_at', models.DateTimeField()),
                ('resolved_at', models.DateTimeField(null=True)),
                ('detail', models.JSONField(default=dict)),
                ('acknowledged_at', models.DateTimeField(null=True)),
                ('acknowledged_by', models.CharField(default='', max_length=253)),
                ('silenced_until', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='cluster',
            name='drop_below_milli_percent',
            field=models.PositiveIntegerField(default=50000),
        ),
        migrations.AddField(
            model_name='cluster',
            name='drop_least_held_us',
            field=models.BigIntegerField(default=3600000000),
        ),
        migrations.AddField(
            model_name='cluster',
            name='drop_points_milli',
            field=models.PositiveIntegerField(default=20000),
        ),
        migrations.AddField(
            model_name='cluster',
            name='judged_to',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='verdict',
            field=models.CharField(db_default='', default='', max_length=8),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('min_goodput_milli__isnull', False), ('verdict', '')), fields=['cluster', 'ended_at'], name='run_to_be_judged'),
        ),
        migrations.AddField(
            model_name='alert',
            name='cluster',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='ledger.cluster'),
        ),
        migrations.AddField(
            model_name='alert',
            name='run',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='ledger.run'),
        ),
        migrations.AddField(
            model_name='alert',
            name='workspace',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='ledger.workspace'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['workspace', 'fired_at'], name='alert_of_workspace'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['cluster', 'fired_at'], name='alert_of_cluster'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.UniqueConstraint(condition=models.Q(('resolved_at__isnull', True)), fields=('cluster', 'rule', 'subject'), name='alert_one_open'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.UniqueConstraint(fields=('cluster', 'rule', 'subject', 'hour'), name='alert_one_an_hour'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.CheckConstraint(condition=models.Q(('rule__in', ('goodput_drop', 'source_stale', 'ledger_late', 'workers_vanished', 'run_below_threshold', 'prune_late'))), name='alert_rule'),
        ),
    ]
