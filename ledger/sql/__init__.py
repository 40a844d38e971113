"""The statements, one a file with named parameters; each can be run in psql. This package only reads and runs them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection
from psycopg import Cursor

from ledger.sql.sending import array, sent, text

__all__ = ("array", "execute", "rows", "run", "text", "value")

PREPARED_MAX = 64  # of a connection, those used last: a plan of the largest statement takes some 2.3 MB of its process


class _PreparingCursor(Cursor[Any]):
    """Binds in Postgres, and has each statement prepared where the connection allows it."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> "_PreparingCursor":
        return super().execute(query, params, **{"prepare": True} | options)


@contextmanager
def _executed(name: str, parameters: Mapping[str, Any]) -> Iterator[Any]:
    statement, bound, is_prepared = sent(name, parameters)
    with _preparing_cursor() if is_prepared else connection.cursor() as cursor:
        cursor.execute(statement, bound)
        yield cursor


def _preparing_cursor() -> Any:
    """Return a cursor as Django would, with its checks, its errors and its record of statements."""
    connection.ensure_connection()
    connection.connection.prepared_max = PREPARED_MAX
    cursor: Any = _PreparingCursor(connection.connection)
    return connection.make_debug_cursor(cursor) if connection.queries_logged else connection.make_cursor(cursor)


def rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows. A list is a Postgres array, whose type the statement says."""
    with _executed(name, parameters) as cursor:
        return list(cursor.fetchall())


def run(name: str, /, **parameters: Any) -> int:
    """Run a statement and return how many rows it touched."""
    with _executed(name, parameters) as cursor:
        return int(cursor.rowcount)


def execute(name: str) -> None:
    """Run a file of several statements without parameters."""
    with connection.cursor() as cursor:
        cursor.execute(text(name))


def value(name: str, /, **parameters: Any) -> Any:
    """Run a statement and return the only value of its only row."""
    return rows(name, **parameters)[0][0]
