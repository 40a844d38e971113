"""`/healthz`: well only while it serves and counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from goodput_site import health
from ledger import queries


def state(age: timedelta | None) -> queries.Health:
    at = None if age is None else timezone.now() - age
    return queries.Health(counted_until=at, last_categorized_at=at)


@pytest.mark.django_db
@pytest.mark.parametrize("age", [None, timedelta(0), timedelta(seconds=120)])
def test_well(client: Client, monkeypatch: pytest.MonkeyPatch, age: timedelta | None) -> None:
    monkeypatch.setattr(queries, "health", lambda: state(age))
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert (answer.json()["counted_until"] is None) == (age is None)
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db
def test_unwell_when_the_last_count_is_old(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "health", lambda: state(timedelta(minutes=7)))
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert "last counted 7 minutes ago" in answer.json()["reason"]


def test_three_minutes_are_the_limit() -> None:
    now = datetime(2026, 10, 1, 12, tzinfo=UTC)
    assert health.stale_count(now - timedelta(minutes=3), now) == ""
    assert health.stale_count(now - timedelta(minutes=3, milliseconds=1), now) != ""
    assert health.stale_count(now + timedelta(seconds=1), now) == ""


@pytest.mark.django_db
def test_unwell_when_the_database_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> queries.Health:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr(queries, "health", away)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["reason"] == "the database does not answer: connection refused"


@pytest.mark.django_db
def test_unwell_when_migrations_are_missing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_seen_migrated", False)
    monkeypatch.setattr(health, "missing_migrations", lambda: ["ledger.0009_more"])
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["reason"] == "migrations are missing: ledger.0009_more"


@pytest.mark.django_db
def test_no_migration_is_missing_here() -> None:
    assert health.missing_migrations() == []


@pytest.mark.django_db
def test_it_is_only_read(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
