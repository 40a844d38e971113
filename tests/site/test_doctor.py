"""`manage.py doctor`: what is missing for a real installation, in plain words."""

from __future__ import annotations

import re
import shutil
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from goodput_site import doctor
from ledger.models import Channel, Cluster, Delivery, Organization, Source, Workspace
from tests.site.running import manage

pytestmark = pytest.mark.django_db


def wrong() -> list[str]:
    return [finding.text for finding in doctor.examine(timezone.now()) if not finding.well]


@pytest.fixture
def real(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Settings as those of a real installation, with a broker that answers and no cluster yet."""
    settings.EMBEDDED = False
    settings.SECRET_KEY_IS_GENERATED = False
    settings.CELERY_BROKER_URL = "memory://"
    settings.ALLOWED_HOSTS = ["goodput.example"]
    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True
    settings.SECURE_HSTS_SECONDS = 31_536_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=50 * 1024**3))
    return settings


@pytest.fixture
def delivered(real: Any) -> Cluster:
    """A cluster that was counted just now and a source that just spoke."""
    now = timezone.now()
    organization = Organization.objects.create(name="acme")
    cluster = Cluster.objects.create(organization=organization, name="east", categorized_at=now, counted_until=now)
    Source.objects.create(cluster=cluster, name="kubernetes/east", word_at=now)
    return cluster


def test_a_real_installation_that_counts_is_well(delivered: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong() == []
    call_command("doctor")
    assert capsys.readouterr().out.endswith("All is well.\n")


def test_the_embedded_one_is_not_a_real_installation(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    out = capsys.readouterr().out
    for missing in ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY"):
        assert f"WRONG {missing} is not set" in out
    assert "There is no cluster yet" in out
    assert "No collector has delivered yet" in out


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("SECRET_KEY_IS_GENERATED", True, "SECRET_KEY is not set"),
        ("CELERY_BROKER_URL", "", "CELERY_BROKER_URL is not set"),
        ("CELERY_BROKER_URL", "redis-but-not://x", "does not answer"),
        ("ALLOWED_HOSTS", ["127.0.0.1", "localhost"], "ALLOWED_HOSTS names only this machine"),
        ("SESSION_COOKIE_SECURE", False, "security.W012"),
    ],
)
def test_each_setting_that_is_missing(delivered: Cluster, real: Any, setting: str, value: object, says: str) -> None:
    setattr(real, setting, value)
    (text,) = wrong()
    assert says in text


def test_a_categorizer_that_stands_still(delivered: Cluster) -> None:
    delivered.categorized_at = timezone.now() - timedelta(minutes=4)
    delivered.save()
    (text,) = wrong()
    assert text.startswith("The categorizer has not counted every cluster since 20")
    assert "start a Celery worker and one beat" in text
    delivered.categorized_at = None
    delivered.save()
    (text,) = wrong()
    assert text.startswith("The categorizer has never counted")


def test_a_collector_that_fell_silent(delivered: Cluster) -> None:
    Source.objects.update(word_at=timezone.now() - timedelta(hours=1))
    (text,) = wrong()
    assert text.startswith("No collector has delivered since 20")


def test_a_full_disk(delivered: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1024**3))
    (text,) = wrong()
    assert text.startswith("Only 1.0 GiB are free in /")


def test_clocks_that_differ(delivered: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CLOCK_DIFFERENCE_MAX", timedelta(microseconds=-1))
    (text,) = wrong()
    assert re.search(r"clock and the database's differ by \d+ s", text)


def test_an_old_database(delivered: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "POSTGRES_VERSION_MIN", 990_000)
    (text,) = wrong()
    assert text.startswith("The database is PostgreSQL 1")


def test_migrations_that_are_missing(delivered: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "missing_migrations", lambda: ["ledger.0009_more", "ledger.0010_most"])
    assert wrong() == ["2 migrations are missing: run `manage.py migrate`."]


def test_a_database_that_is_away(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("connection refused\nmore")

    monkeypatch.setattr(connection, "cursor", away)
    assert wrong() == ["The database does not answer: connection refused"]


def test_the_command_says_it_without_a_traceback(folder: Path) -> None:
    url = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    done = manage(folder / "state", "doctor", **url)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "ok    DATABASE_URL is set." in done.stdout
    assert "WRONG SECRET_KEY is not set" in done.stdout
    assert "WRONG CELERY_BROKER_URL is not set" in done.stdout
    assert "WRONG The database does not answer: connection" in done.stdout
    assert not (folder / "state").exists()


def test_a_cluster_that_nobody_prunes(delivered: Cluster) -> None:
    Cluster.objects.update(pruned_at=timezone.now() - timedelta(days=2, minutes=1))
    assert wrong() == ["Not pruned for two days: acme/east. `manage.py prune` says what holds it up."]


def test_mail_that_nobody_can_send_and_what_was_given_up(delivered: Cluster) -> None:
    workspace = Workspace.objects.create(organization=delivered.organization, name="vision")
    channel = Channel.objects.create(workspace=workspace, kind="email", name="ana", target="ana@example.com")
    Delivery.objects.create(channel=channel, event="test", dead_at=timezone.now())
    Delivery.objects.create(channel=channel, event="test", due_at=timezone.now() - timedelta(minutes=11))
    assert wrong() == [
        "Somebody wants mail, and EMAIL_URL is not set: name a mail server.",
        "1 notifications were given up in a day: the page of their channel says why.",
        "1 notifications wait for over ten minutes: start a Celery worker and one beat.",
    ]
