"""What is sent for a statement's file: its parts that have a part in the answer, and what is bound in Postgres."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

FOLDER = Path(__file__).parent
_ONLY = re.compile(r"^ *-- only (\w+): ([\w ]+)$", re.MULTILINE)
_PREPARED = re.compile(r"^-- Prepared for each (\w+(?:, \w+)*)(?:, without (\w+(?:, \w+)*))?\.$", re.MULTILINE)
_PARAMETER = re.compile(r"%\((\w+)\)s")
_WORD = re.compile(r"\w*")
_FIRST_OF_UNION = re.compile(r"\(\s*UNION ALL")


@cache
def text(name: str) -> str:
    """Return the statement of `<name>.sql`. Raises FileNotFoundError for a name that is none."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


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


class Sent(NamedTuple):
    """A statement as it is sent, what is bound, and whether it is prepared: planned once, without what is bound."""

    statement: str
    bound: Mapping[str, Any]
    is_prepared: bool


def sent(name: str, parameters: Mapping[str, Any]) -> Sent:
    """Return what is sent for the statement `<name>.sql` with parameters.

    Where its file says `-- Prepared for each a, b, without c, d.` it is prepared for each value of a and b, which are
    written into it, and only where nothing is given for c and d, whose values decide which plan is good. Planning takes
    the largest statement several times as long as its answer. Raises KeyError for a parameter that is missing.
    """
    statement = text(name)
    choices = _choices(statement)
    cut = chosen(statement, frozenset((each, parameters[each]) for each in choices)) if choices else statement
    preparing = _preparing(statement)
    if preparing is None or any(parameters[each] not in (None, "") for each in preparing.without):
        return Sent(cut, _written(parameters), False)
    fixed = frozenset((each, parameters[each]) for each in (*preparing.each, *preparing.without))
    return Sent(settled(cut, fixed), _written(parameters), True)


class _Preparing(NamedTuple):
    each: tuple[str, ...]
    without: tuple[str, ...]


@cache
def _preparing(statement: str) -> _Preparing | None:
    found = _PREPARED.search(statement)
    return found and _Preparing(tuple(found[1].split(", ")), tuple(found[2].split(", ")) if found[2] else ())


@cache
def settled(statement: str, fixed: frozenset[tuple[str, Any]]) -> str:
    """Return a statement with the values of some parameters, which are words, truth values or null, written into it.

    What they decide is then decided when the statement is planned. Raises ValueError for any other value.
    """
    literals = {name: _literal(value) for name, value in fixed}
    return _PARAMETER.sub(lambda found: literals.get(found[1], found[0]), statement)


def _literal(value: str | bool | None) -> str:
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "true", False: "false"}[value]
    if not _WORD.fullmatch(value):
        raise ValueError(f"{value!r} is not a word that may be written into a statement")
    return f"'{value}'"


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
