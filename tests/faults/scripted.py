"""The database's clock as a test moves it: a function that hides Postgres's own, for every connection of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.backends.signals import connection_created

MAKE = """
CREATE SCHEMA IF NOT EXISTS scripted;
CREATE TABLE IF NOT EXISTS scripted.moment (ms bigint NOT NULL);
CREATE OR REPLACE FUNCTION scripted.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
AS 'SELECT to_timestamp(ms / 1000.0) FROM scripted.moment';
TRUNCATE scripted.moment;
"""
SEARCH = "SET search_path = scripted, pg_catalog, public"


class ScriptedClock:
    """Instants in ms. Whoever reads the database's clock reads this one, after whatever lock it took."""

    def set(self, at: int) -> None:
        """Move to `at`, forth or back."""
        _execute("UPDATE scripted.moment SET ms = %s", at)

    def reach(self, at: int) -> int:
        """Move forth to `at`, unless it is later already, and return where the clock stands."""
        return int(_value("UPDATE scripted.moment SET ms = greatest(ms, %s) RETURNING ms", at))

    def tick(self, by: int) -> int:
        return int(_value("UPDATE scripted.moment SET ms = ms + %s RETURNING ms", by))

    def read(self) -> int:
        return int(_value("SELECT ms FROM scripted.moment"))


def _execute(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def _value(statement: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()[0]


def look_there(connection: Any, **_: Any) -> None:
    """Make a connection see the scripted clock."""
    with connection.cursor() as cursor:
        cursor.execute(SEARCH)


@contextmanager
def scripted_clock(at: int) -> Iterator[ScriptedClock]:
    """The clock stands at `at` (ms) and moves when it is told to. Not within a transaction of the caller."""
    with connection.cursor() as cursor:
        cursor.execute(MAKE)
        cursor.execute("INSERT INTO scripted.moment VALUES (%s)", [at])
    connection.close()
    connection_created.connect(look_there, dispatch_uid="scripted clock")
    try:
        yield ScriptedClock()
    finally:
        connection_created.disconnect(dispatch_uid="scripted clock")
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA scripted CASCADE")
