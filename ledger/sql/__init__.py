"""The statements, one a file with named parameters; each can be run in psql. This package only reads and runs them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from django.db import connection

_FOLDER = Path(__file__).parent
_ONLY = re.compile(r"^ *-- only (\w+): ([\w ]+)$", re.MULTILINE)
_FIRST_OF_UNION = re.compile(r"\(\s*UNION ALL")


@cache
def text(name: str) -> str:
    """Return the statement of `<name>.sql`. Raises FileNotFoundError for a name that is none."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@cache
def _choices(statement: str) -> frozenset[str]:
    return frozenset(found[1] for found in _ONLY.finditer(statement))


@cache
def chosen(statement: str, choices: frozenset[tuple[str, str]]) -> str:
    """Return a statement without its sections for other choices, pairs of a parameter and what it is.

    A section stands between `-- only <parameter>: <values>` and `-- end only`, and yields no row where the parameter is
    something else, so the whole statement says the same; but all of it would be planned. A union may begin with any.
    """
    kept, is_kept, given = [], True, dict(choices)
    for line in statement.splitlines():
        if found := _ONLY.match(line):
            is_kept = given[found[1]] in found[2].split()
        elif line.strip() == "-- end only":
            is_kept = True
        elif is_kept and not line.lstrip().startswith("--"):
            kept.append(line)
    return _FIRST_OF_UNION.sub("(", "\n".join(kept))


def _told(name: str, parameters: Mapping[str, Any]) -> str:
    statement = text(name)
    choices = _choices(statement)
    return chosen(statement, frozenset((each, parameters[each]) for each in choices)) if choices else statement


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
        cursor.execute(_told(name, parameters), _written(parameters))
        return list(cursor.fetchall())


def run(name: str, /, **parameters: Any) -> int:
    """Run a statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(_told(name, parameters), _written(parameters))
        return int(cursor.rowcount)


def execute(name: str) -> None:
    """Run a file of several statements without parameters."""
    with connection.cursor() as cursor:
        cursor.execute(text(name))


def value(name: str, /, **parameters: Any) -> Any:
    """Run a statement and return the only value of its only row."""
    return rows(name, **parameters)[0][0]
