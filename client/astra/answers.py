"""From a question to what is printed: a table, or the server's own JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from astra import __version__, names, tables
from astra.asking import Asking, Parameters, Trouble
from astra.questions import Asked, question

EXACT = {"unit": "gpu_us"}
LATER = "Rows after the first 1,000 were counted a moment later than the TOTAL."
MORE = "More rows are in the TOTAL than in the table: --all shows them."
Document = dict[str, Any]


@contextmanager
def understood() -> Iterator[None]:
    """Say so when an answer lacks what is needed of it."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError):
        raise Trouble(
            f"This astra ({__version__}) does not understand the server's answer: are both of one age?"
        ) from None


def table(asked: Asked, asking: Asking) -> list[tables.Line]:
    """Return the lines of the table, or tables. Raises Trouble."""
    with understood():
        path, parameters = question(asked, asking)
        parameters.update(EXACT)
        answer = asking.document(path, parameters)
        known(asked, asking, found(answer))
        if asked.weeks:
            cut = any(less(week["rows"], week["total"]) for week in answer["weeks"])
            return tables.weeks(answer, MORE if cut else "")
        if asked.everything:
            first = answer["counted_until"]
            answer = whole(answer, path, asking)
            return tables.ledgers(answer, "" if answer["counted_until"] == first or answer["complete"] else LATER)
        return tables.ledgers(answer, MORE if answer["next"] else "")


def as_json(asked: Asked, asking: Asking, unit: Parameters) -> bytes:
    """Return the document as it came; several pages of it as one."""
    with understood():
        path, parameters = question(asked, asking)
        body = asking.body(path, {**parameters, **unit})
        answer = asking.read(body)
        known(asked, asking, found(answer))
        if asked.everything and answer.get("next"):
            body = json.dumps(whole(answer, path, asking), ensure_ascii=False).encode()
        return body.rstrip() + b"\n"


def as_csv(asked: Asked, asking: Asking, unit: Parameters) -> bytes:
    """Return the rows as they came; of several pages the first line only once."""
    with understood():
        path, parameters = question(asked, asking)
        return asking.body(path, {**parameters, **unit, "format": "csv"})


def whole(answer: Document, path: str, asking: Asking) -> Document:
    """Return the answer with the rows of all pages after it."""
    rows, last = list(answer["rows"]), answer
    for last in asking.following(path, answer):
        rows += last["rows"]
    return {**answer, "rows": rows, "next": None, "counted_until": last["counted_until"]}


def found(answer: Mapping[str, Any]) -> bool:
    """Whether there is any row."""
    return bool(answer.get("rows")) or any(week["rows"] for week in answer.get("weeks", ()))


def known(asked: Asked, asking: Asking, found: bool) -> None:
    """When nothing was found, raise Trouble if it is for a name that there is not."""
    if not found and (sentence := names.unknown(asked.filters(), asking)):
        raise Trouble(sentence)


def less(rows: list[Document], total: Document) -> bool:
    """Whether these rows, in exact amounts, are not all that is in the total."""
    return sum(asked_time(row) for row in rows) < asked_time(total)


def asked_time(ledger: Document) -> int:
    return sum(map(int, ledger["gpu_hours"].values()))
