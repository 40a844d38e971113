"""The statements, one a file with named parameters; each can be run in psql. This package only reads and runs them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from django.db import connection

_FOLDER = Path(__file__).parent


@cache
def text(name: str) -> str:
    """Return the statement of `<name>.sql`. Raises FileNotFoundError for a name that is none."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def array(values: list[Any]) -> str:
    """Write numbers, truth values or texts as Postgres reads an array; None is null.

    The driver's own way takes longer than all else that is done with a large list. Texts are not written as JSON,
    whose escapes for control characters Postgres would read otherwise.
    """
    if isinstance(next((value for value in values if value is not None), None), str):
        return "{" + ",".join("NULL" if value is None else _quoted(value) for value in values) + "}"
    return "{" + msgspec.json.encode(values)[1:-1].decode() + "}"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: array(value) if isinstance(value, list) else value for name, value in parameters.items()}


def rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows. A list is a Postgres array, whose type the statement says."""
    with connection.cursor() as cursor:
        cursor.execute(text(name), _written(parameters))
        return list(cursor.fetchall())


def run(name: str, /, **parameters: Any) -> int:
    """Run a statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(text(name), _written(parameters))
        return int(cursor.rowcount)


def execute(name: str) -> None:
    """Run a file of several statements without parameters."""
    with connection.cursor() as cursor:
        cursor.execute(text(name))


def value(name: str, /, **parameters: Any) -> Any:
    """Run a statement and return the only value of its only row."""
    return rows(name, **parameters)[0][0]
