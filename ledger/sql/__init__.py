"""The statements, one a file with named parameters; each can be run in psql. This package only reads and runs them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection

_FOLDER = Path(__file__).parent


@cache
def text(name: str) -> str:
    """Return the statement of `<name>.sql`. Raises FileNotFoundError for a name that is none."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(text(name), parameters)
        return list(cursor.fetchall())


def run(name: str, /, **parameters: Any) -> int:
    """Run a statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(text(name), parameters)
        return int(cursor.rowcount)


def execute(name: str) -> None:
    """Run a file of several statements without parameters."""
    with connection.cursor() as cursor:
        cursor.execute(text(name))


def value(name: str, /, **parameters: Any) -> Any:
    """Run a statement and return the only value of its only row."""
    return rows(name, **parameters)[0][0]


def row(name: str, /, **parameters: Any) -> Mapping[str, Any]:
    """Run a statement and return its only row by column name."""
    with connection.cursor() as cursor:
        cursor.execute(text(name), parameters)
        names = [column.name for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))
