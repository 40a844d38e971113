"""What every connection of the application is set to."""

import pytest
from django.db import connection


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("jit", "off"),
        ("TimeZone", "UTC"),
        ("transaction_isolation", "read committed"),
        ("idle_in_transaction_session_timeout", "2min"),
        ("listen_addresses", ""),
    ],
)
def test_a_connection_is_set_as_the_ledger_needs_it(setting: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {setting}")
        assert cursor.fetchone() == (value,)


@pytest.mark.django_db
def test_postgres_is_new_enough() -> None:
    connection.ensure_connection()
    assert connection.connection.info.server_version >= 150000
