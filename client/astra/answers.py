"""From a question to what is printed: a table, or the server's own JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from astra import __version__, names, tables
from astra.asking import Asking, Parameters, Trouble
from astra.questions import ROWS_MAX, Asked, question

EXACT = {"unit": "gpu_us"}
LATER = "Rows after the first 1,000 were counted a moment later than the TOTAL."
MORE_WORKERS = {
    "stalled": "More workers are stalled than are in the table: --all shows them.",
    "straggler": "There are more stragglers than are in the table: --all shows them.",
}
TABLES = {"stalled": tables.stalled, "straggler": tables.stragglers}
MORE_ALERTS = "There are more alerts than are in the table: --all shows them."
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
            cut = any(week["count"] > len(week["rows"]) for week in answer["weeks"])
            return tables.weeks(answer, MORE if cut else "")
        if not asked.everything:
            return tables.ledgers(answer, MORE if answer["next"] else "")
        later = answer["next"] and not answer["complete"]
        return tables.ledgers(whole(answer, path, asking), LATER if later else "")


def as_json(asked: Asked, asking: Asking, unit: Parameters) -> bytes:
    """Return the document as it came; several pages of it as one."""
    with understood():
        path, parameters = question(asked, asking)
        body = asking.body(path, {**parameters, **unit})
        answer = asking.read(body)
        known(asked, asking, found(answer))
        return told(body, answer, whole(answer, path, asking) if asked.everything and not asked.weeks else answer)


def as_csv(asked: Asked, asking: Asking, unit: Parameters) -> bytes:
    """Return the rows as they came; of several pages the first line only once."""
    with understood():
        path, parameters = question(asked, asking)
        first, *others = asking.csv(path, {**parameters, **unit}, asked.everything)
        known(asked, asking, first.count(b"\n") > 1)
        return first + b"".join(other.partition(b"\n")[2] for other in others)


def workers(asking: Asking, everything: bool, form: str | None, state: str) -> list[tables.Line] | bytes:
    """Return the workers that are stalled now, or stragglers, as a table or as JSON."""
    with understood():
        body = asking.body("workers", {"state": state, **({"limit": str(ROWS_MAX)} if everything else {})})
        answer = asking.read(body)
        joined = whole(answer, "workers", asking, "workers") if everything else answer
        more = MORE_WORKERS[state] if joined["next"] else ""
        return told(body, answer, joined) if form else TABLES[state](joined, more)


def alerts(asking: Asking, firing: bool, everything: bool, form: str | None) -> list[tables.Line] | bytes:
    """Return alerts, those that are firing first, as a table or as JSON."""
    with understood():
        said = {"state": "firing"} if firing else {}
        body = asking.body("alerts", {**said, **({"limit": str(ROWS_MAX)} if everything else {})})
        answer = asking.read(body)
        joined = whole(answer, "alerts", asking, "alerts") if everything else answer
        return told(body, answer, joined) if form else tables.alerts(joined, MORE_ALERTS if joined["next"] else "")


def told(body: bytes, answer: Document, joined: Document) -> bytes:
    """Return a document as it came, unless other pages were joined to it."""
    text = body if joined is answer else json.dumps(joined, ensure_ascii=False).encode()
    return text.rstrip() + b"\n"


def whole(answer: Document, path: str, asking: Asking, of: str = "rows") -> Document:
    """Return the answer with the rows of all pages after it, which may have been counted later."""
    pages = list(asking.following(path, answer))
    if not pages:
        return answer
    rows = [row for page in (answer, *pages) for row in page[of]]
    return {**answer, of: rows, "next": None}


def found(answer: Mapping[str, Any]) -> bool:
    """Whether there is any row."""
    return bool(answer.get("rows")) or any(week["rows"] for week in answer.get("weeks", ()))


def known(asked: Asked, asking: Asking, found: bool) -> None:
    """When nothing was found, raise Trouble if it is for a name that there is not."""
    if found:
        return
    filters = asked.filters()
    if asked.finds_run():
        del filters["run"]  # the server has found it
    if sentence := names.unknown(filters, asking):
        raise Trouble(sentence)
