"""What is missing or wrong for a real installation, each in a sentence that says what to do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.db.models import Max, Min
from kombu import Connection

from goodput_site.health import COUNT_AGE_MAX, missing_migrations
from ledger.models import Channel, Cluster, Delivery, Source

POSTGRES_VERSION_MIN = 150_000
CLOCK_DIFFERENCE_MAX = timedelta(seconds=2)
DISK_FREE_BYTES_MIN = 2 * 1024**3
SOURCE_AGE_MAX = timedelta(minutes=5)
PRUNE_AGE_MAX = timedelta(days=2)


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    well: bool
    text: str


def examine(now: datetime) -> Iterator[Finding]:
    """Everything that can be said; checks that need the database only when it answers."""
    yield from configuration(now)
    yield from broker(now)
    yield from disk(now)
    reached = not settings.DATABASE_PROBLEM
    for finding in database(now) if reached else ():
        reached = reached and finding.well
        yield finding
    if reached:
        for check in (clock, migrations, categorizer, collectors, pruning, notifications):
            yield from check(now)


def configuration(_: datetime) -> Iterator[Finding]:
    """Whether this is a real installation at all."""
    if settings.EMBEDDED:
        yield Finding(False, "DATABASE_URL is not set: data is kept in the embedded Postgres, which is for trying out.")
    elif settings.DATABASE_PROBLEM:
        yield Finding(False, f"{settings.DATABASE_PROBLEM}.")
    else:
        yield Finding(True, "DATABASE_URL is set.")
    if settings.SECRET_KEY_IS_GENERATED:
        yield Finding(False, "SECRET_KEY is not set: make one with `openssl rand -base64 48` and keep it.")
    else:
        yield Finding(True, "SECRET_KEY is set.")
    if settings.EMBEDDED:
        return
    if set(settings.LOOPBACK).issuperset(settings.ALLOWED_HOSTS):
        yield Finding(False, "ALLOWED_HOSTS names only this machine: set it to the names people will use.")
    for message in checks.run_checks(include_deployment_checks=True):
        if message.level >= checks.WARNING:
            yield Finding(False, f"{message.id}: {' '.join(message.msg.split())}")


def broker(_: datetime) -> Iterator[Finding]:
    """Whether Celery has a broker and it answers."""
    if settings.EMBEDDED_BROKER == settings.CELERY_BROKER_URL:
        yield Finding(False, "CELERY_BROKER_URL is not set: tasks go through the embedded Postgres.")
        return
    if not settings.CELERY_BROKER_URL:
        yield Finding(False, "CELERY_BROKER_URL is not set: name a Redis, Valkey or RabbitMQ server.")
        return
    try:
        with Connection(settings.CELERY_BROKER_URL, connect_timeout=5) as link:
            link.ensure_connection(max_retries=1, timeout=5)
    except Exception as error:  # each transport has its own errors
        yield Finding(False, f"The broker that CELERY_BROKER_URL names does not answer: {first_line(error)}")
    else:
        yield Finding(True, "The broker answers.")


def disk(_: datetime) -> Iterator[Finding]:
    """Room where this installation writes."""
    folder = settings.PLACES.postgres if settings.PLACES.postgres.exists() else settings.BASE_DIR
    free = shutil.disk_usage(folder).free
    text = f"{free / 1024**3:.1f} GiB are free in {folder}"
    yield Finding(
        free >= DISK_FREE_BYTES_MIN, f"{text}." if free >= DISK_FREE_BYTES_MIN else f"Only {text}; make room."
    )


def database(_: datetime) -> Iterator[Finding]:
    """Whether it answers and is new enough."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            version = int(cursor.fetchone()[0])
    except DatabaseError as error:
        yield Finding(False, f"The database does not answer: {first_line(error)}")
        return
    name = f"PostgreSQL {version // 10_000}.{version % 10_000}"
    if version >= POSTGRES_VERSION_MIN:
        yield Finding(True, f"The database answers: {name}.")
    else:
        yield Finding(False, f"The database is {name}; 15 or newer is needed.")


def clock(_: datetime) -> Iterator[Finding]:
    """Whether this machine and the database agree what time it is, asked at one moment."""
    with connection.cursor() as cursor:
        before = datetime.now(UTC)
        cursor.execute("SELECT clock_timestamp()")
        difference = abs(cursor.fetchone()[0] - before)
    if difference <= CLOCK_DIFFERENCE_MAX:
        yield Finding(True, "This machine's clock and the database's agree.")
    else:
        seconds = difference.total_seconds()
        yield Finding(False, f"This machine's clock and the database's differ by {seconds:.0f} s: set them by NTP.")


def migrations(_: datetime) -> Iterator[Finding]:
    missing = missing_migrations()
    if missing:
        yield Finding(False, f"{len(missing)} migrations are missing: run `manage.py migrate`.")
    else:
        yield Finding(True, "All migrations are applied.")


def categorizer(now: datetime) -> Iterator[Finding]:
    """Whether every cluster was counted in the last minutes."""
    if missing_migrations():
        return
    found = Cluster.objects.aggregate(oldest=Min("categorized_at"), newest=Max("categorized_at"))
    last, never = found["oldest"], Cluster.objects.filter(categorized_at=None).exists()
    if not Cluster.objects.exists():
        yield Finding(False, "There is no cluster yet: `manage.py create_organization` and `create_cluster` make one.")
    elif never or now - last > COUNT_AGE_MAX:
        when = "never counted" if last is None else f"not counted every cluster since {last:%Y-%m-%d %H:%M:%S} UTC"
        yield Finding(False, f"The categorizer has {when}: start a Celery worker and one beat.")
    else:
        yield Finding(True, f"The categorizer last counted at {last:%H:%M:%S} UTC.")


def collectors(now: datetime) -> Iterator[Finding]:
    """Whether anything has ever been delivered, and of late."""
    if missing_migrations():
        return
    last = Source.objects.aggregate(last=Max("word_at"))["last"]
    if last is None:
        yield Finding(False, "No collector has delivered yet: give one a token with scope ingest and this address.")
    elif now - last > SOURCE_AGE_MAX:
        yield Finding(False, f"No collector has delivered since {last:%Y-%m-%d %H:%M:%S} UTC.")
    else:
        yield Finding(True, f"A collector delivered at {last:%H:%M:%S} UTC.")


def pruning(now: datetime) -> Iterator[Finding]:
    """Whether every cluster was pruned in the last two days."""
    if missing_migrations() or not Cluster.objects.exists():
        return
    late = Cluster.objects.filter(pruned_at__lt=now - PRUNE_AGE_MAX).order_by("pruned_at")
    never = Cluster.objects.filter(pruned_at=None, first_hour__lt=now - PRUNE_AGE_MAX)
    found = [f"{cluster}" for cluster in (*late, *never)]
    if found:
        yield Finding(False, f"Not pruned for two days: {', '.join(found)}. `manage.py prune` says what holds it up.")
    else:
        yield Finding(True, "What is over 400 days old is pruned.")


def notifications(now: datetime) -> Iterator[Finding]:
    """Whether mail that somebody wants can be sent, and whether all that was to be told was."""
    if missing_migrations():
        return
    if Channel.objects.filter(kind="email").exists() and not settings.EMAIL_HOST:
        yield Finding(False, "Somebody wants mail, and EMAIL_URL is not set: name a mail server.")
    dead = Delivery.objects.filter(dead_at__gt=now - timedelta(days=1)).count()
    waits = Delivery.objects.filter(sent_at=None, dead_at=None, due_at__lt=now - timedelta(minutes=10)).count()
    if dead:
        yield Finding(False, f"{dead} notifications were given up in a day: the page of their channel says why.")
    if waits:
        yield Finding(False, f"{waits} notifications wait for over ten minutes: start a Celery worker and one beat.")
    if not dead and not waits:
        yield Finding(True, "No notification waits, and none was given up in a day.")


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
