"""What a process of its own can run: the steps of the ledger by the cluster's id, at a given now (ms)."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
django.setup()

from ledger import alerts, categorizer, hours, ingest, retention, rollups  # noqa: E402  # Django is set up before its models are imported
from ledger.decode import decode  # noqa: E402
from ledger.models import Cluster  # noqa: E402
from ledger.notify import outbox  # noqa: E402
from ledger.notify.message import Setup  # noqa: E402
from tests.simulation.mutating import Mutant, mutated  # noqa: E402


def take(cluster: int, body: bytes, now: int) -> None:
    ingest.ingest(Cluster.objects.get(pk=cluster), decode(body, "application/json"), now=now)


def categorize(cluster: int, now: int, batch_size: int) -> None:
    categorizer.categorize(Cluster.objects.get(pk=cluster), now=now, batch_size=batch_size)


def close(cluster: int, now: int) -> None:
    hours.close_over(cluster, now)


def roll_up(cluster: int, now: int) -> None:
    rollups.roll_up(cluster, now)


def prune(cluster: int, now: int) -> None:
    retention.prune(cluster, now=now)


def evaluate(cluster: int, now: int) -> None:
    alerts.evaluate(cluster, now=now)


def send_notifications() -> None:
    outbox.send_due(Setup(networks=("127.0.0.0/8",)))


def under(mutant: Mutant, step: str, *arguments: object) -> None:
    """Run a step of a process whose source has a mutant."""
    with mutated(mutant):
        globals()[step](*arguments)
