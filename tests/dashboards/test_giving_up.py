"""A page that takes too long, or has no database, says what to do."""

from typing import Any

import pytest
from django.db import OperationalError, connection

from ledger import queries
from tests.dashboards.conftest import Get


def test_a_page_that_takes_too_long_is_given_up_kindly(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Postgres says it under a statement_timeout, which the web's connections have."""

    def slow(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 20")
            cursor.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr(queries, "goodput", slow)
    page = get("/w/acme/vision/goodput", days=400)
    assert page.status_code == 503
    assert page["Retry-After"] == "60"
    text = page.content.decode()
    assert "This took too long" in text
    assert "Ask for fewer days" in text
    assert 'href="/w/acme/vision/goodput?days=400"' in text


def test_a_database_that_is_away_is_another_matter(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("secret address")

    monkeypatch.setattr(queries, "goodput", away)
    page = get("/w/acme/vision/goodput")
    assert page.status_code == 503
    assert "does not answer" in page.content.decode()
    assert "secret" not in page.content.decode()
