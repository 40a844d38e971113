"""The usual way, to compare with: Django REST framework's serializers, and update_or_create for each item.

Written as well as that way allows: one transaction a batch, runs and workers looked up once, the hour's amount added
with one statement a reading. It judges less than the real endpoint does and knows no late or corrected history.
"""

from datetime import datetime
from io import BytesIO
from typing import Any

from django.db import connection, models, transaction
from django.db.models import F
from rest_framework import serializers
from rest_framework.parsers import JSONParser

CARRIED = {"pending": "preemption", "starting": "restart"}


class Row(models.Model):
    objects: models.Manager[Any]

    class Meta:
        abstract = True
        app_label = "bench"


class RunRow(Row):
    uid = models.CharField(max_length=253, unique=True)
    workspace = models.CharField(max_length=253, default="")
    name = models.CharField(max_length=253, default="")
    user = models.CharField(max_length=253, default="")


class WorkerRow(Row):
    run = models.ForeignKey(RunRow, models.CASCADE)
    name = models.CharField(max_length=253)
    phase = models.CharField(max_length=16, default="")
    machine = models.CharField(max_length=253, default="")
    pool = models.CharField(max_length=253, default="")
    gpus = models.FloatField(default=0)

    class Meta(Row.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="bench_worker")]


class StateRow(Row):
    worker = models.ForeignKey(WorkerRow, models.CASCADE)
    at = models.DateTimeField()
    phase = models.CharField(max_length=16)
    reason = models.CharField(max_length=16, default="")
    attempt = models.IntegerField(null=True)

    class Meta(Row.Meta):
        constraints = [models.UniqueConstraint(fields=["worker", "at", "phase"], name="bench_state")]


class SampleRow(Row):
    worker = models.OneToOneField(WorkerRow, models.CASCADE)
    at = models.DateTimeField()
    gpu_busy = models.FloatField(null=True)
    step = models.BigIntegerField(null=True)
    step_seconds = models.FloatField(null=True)


class AmountRow(Row):
    worker = models.ForeignKey(WorkerRow, models.CASCADE)
    hour = models.DateTimeField()
    category = models.CharField(max_length=16)
    seconds = models.FloatField(default=0)

    class Meta(Row.Meta):
        constraints = [models.UniqueConstraint(fields=["worker", "hour", "category"], name="bench_amount")]


TABLES = (RunRow, WorkerRow, StateRow, SampleRow, AmountRow)


class RunSerializer(serializers.Serializer[Any]):
    uid = serializers.CharField(max_length=253)
    workspace = serializers.CharField(max_length=253, required=False)
    name = serializers.CharField(max_length=253, required=False)
    user = serializers.CharField(max_length=253, required=False)


class StateSerializer(serializers.Serializer[Any]):
    run = serializers.CharField(max_length=253)
    worker = serializers.CharField(max_length=253)
    at = serializers.DateTimeField()
    phase = serializers.ChoiceField(["pending", "starting", "running", "stopping", "failed", "lost", "ended"])
    reason = serializers.CharField(max_length=16, required=False)
    attempt = serializers.IntegerField(min_value=1, required=False)
    gpus = serializers.FloatField(min_value=0, max_value=4096, required=False)
    machine = serializers.CharField(max_length=253, required=False)
    pool = serializers.CharField(max_length=253, required=False)


class ReadingSerializer(serializers.Serializer[Any]):
    run = serializers.CharField(max_length=253)
    worker = serializers.CharField(max_length=253)
    at = serializers.DateTimeField()
    gpu_busy = serializers.FloatField(min_value=0, max_value=100, required=False)
    step = serializers.IntegerField(min_value=0, required=False)
    step_seconds = serializers.FloatField(min_value=0, required=False)


class BatchSerializer(serializers.Serializer[Any]):
    source = serializers.CharField(max_length=253)  # type: ignore[assignment]  # a field may be called so
    sent_at = serializers.DateTimeField()
    runs = RunSerializer(many=True, required=False, default=list)
    workers = StateSerializer(many=True, required=False, default=list)
    readings = ReadingSerializer(many=True, required=False, default=list)


def make_tables() -> None:
    """Make its tables; they are nobody else's."""
    with connection.schema_editor() as editor:
        for model in TABLES:
            editor.create_model(model)


def take(content: bytes) -> int:
    """Take a body and return how many items it had. Raises ValidationError."""
    serializer = BatchSerializer(data=JSONParser().parse(BytesIO(content)))
    serializer.is_valid(raise_exception=True)
    batch = serializer.validated_data
    with transaction.atomic():
        for run in batch["runs"]:
            RunRow.objects.update_or_create(uid=run.pop("uid"), defaults=run)
        workers = known_workers(batch["workers"] + batch["readings"])
        for state in batch["workers"]:
            take_state(workers[state["run"], state["worker"]], state)
        for sample in batch["readings"]:
            take_reading(workers[sample["run"], sample["worker"]], sample)
    return len(batch["workers"]) + len(batch["readings"])


def known_workers(items: list[dict[str, Any]]) -> dict[tuple[str, str], WorkerRow]:
    """Return the workers that items name, those that are new made."""
    uids = {item["run"] for item in items}
    runs = {run.uid: run for run in RunRow.objects.filter(uid__in=uids)}
    found = {(w.run.uid, w.name): w for w in WorkerRow.objects.filter(run__uid__in=uids).select_related("run")}
    for run, name in {(item["run"], item["worker"]) for item in items} - found.keys():
        found[run, name] = WorkerRow.objects.create(run=runs[run], name=name)
    return found


def take_state(worker: WorkerRow, state: dict[str, Any]) -> None:
    """Store a state once, and what it says of its worker."""
    StateRow.objects.update_or_create(
        worker=worker, at=state["at"], phase=state["phase"],
        defaults={"reason": state.get("reason", ""), "attempt": state.get("attempt")},
    )  # fmt: skip
    worker.phase = state["phase"]
    worker.machine = state.get("machine", "")
    worker.pool = state.get("pool", worker.pool)
    worker.gpus = state.get("gpus", worker.gpus)
    worker.save()


def take_reading(worker: WorkerRow, sample: dict[str, Any]) -> None:
    """Keep the newest reading, and add the time since the one before to the worker's hour."""
    values = {name: sample.get(name) for name in ("at", "gpu_busy", "step", "step_seconds")}
    before = SampleRow.objects.filter(worker=worker).first()
    SampleRow.objects.update_or_create(worker=worker, defaults=values)
    if before is not None:
        add(worker, before, sample["at"])


def add(worker: WorkerRow, before: SampleRow, at: datetime) -> None:
    """Add the GPU seconds since a reading to the hour of that reading."""
    busy = before.gpu_busy is not None and before.gpu_busy >= 5
    category = CARRIED.get(worker.phase, "productive" if busy else "idle")
    hour = before.at.replace(minute=0, second=0, microsecond=0)
    seconds = worker.gpus * (at - before.at).total_seconds()
    AmountRow.objects.update_or_create(
        worker=worker, hour=hour, category=category,
        defaults={"seconds": F("seconds") + seconds}, create_defaults={"seconds": seconds},
    )  # fmt: skip
