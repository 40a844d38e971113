"""A statement without its sections for other choices says what the whole of it says."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from ledger import queries, sql
from ledger.access import scope_of_organization
from ledger.core.windows import DAY, HOUR, WEEK, Window
from ledger.queries import Filters
from tests.api.history import History

WINDOWS = (9 * DAY + 7 * HOUR, 3 * WEEK, 17 * WEEK)
FILTERS = (Filters(), Filters(pool="h100"), Filters(user="ana"))
OF_HOURS = (*FILTERS, Filters(machine="gpu-1"), Filters(run="llm"), Filters(machine="unplaced"))


@pytest.mark.django_db
@pytest.mark.parametrize("ask", [queries.goodput, queries.weekly])
def test_goodput(monkeypatch: pytest.MonkeyPatch, history: History, ask: Any) -> None:
    whole, lengths = scope_of_organization(history.tenants.acme), set[int]()
    for by, length, filters, scope in product(
        queries.GROUPINGS, WINDOWS, FILTERS, (whole, replace(whole, is_whole=False))
    ):
        asked = scope, Window(history.edge - length, history.edge), by, filters
        with uncut(monkeypatch, lengths):
            long = answered(ask(*asked))
        assert long == answered(ask(*asked)), (by, length, filters)
    assert len(lengths) > 9


@pytest.mark.django_db
def test_hours_and_places(monkeypatch: pytest.MonkeyPatch, history: History) -> None:
    scope, lengths = scope_of_organization(history.tenants.acme), set[int]()
    window = Window(history.edge - 9 * DAY - 7 * HOUR, history.edge)
    asks = [partial(ask, scope, window, of, 3 * HOUR) for ask in (queries.hourly, queries.sums) for of in OF_HOURS]
    asks += [partial(queries.sums, scope, window, of, window.end - window.start) for of in OF_HOURS]
    asks += [partial(queries.find_spots, scope, kind, name) for kind, name in (("machine", "gpu-1"), ("pool", "h100"))]
    for ask in asks:
        with uncut(monkeypatch, lengths):
            long = ask()
        assert long == ask() != (), ask
    assert len(lengths) == 5


@contextmanager
def uncut(monkeypatch: pytest.MonkeyPatch, lengths: set[int]) -> Iterator[None]:
    """Statements as a whole; `lengths` gets those that they would have."""
    chosen = sql.chosen

    def whole(statement: str, choices: frozenset[tuple[str, str]]) -> str:
        lengths.add(len(chosen(statement, choices)))
        return statement

    with monkeypatch.context() as patched:
        patched.setattr(sql, "chosen", whole)
        yield


def answered(answer: Any) -> list[Any]:
    assert answer.total.amounts != (0,) * 8
    return [answer.total, answer.window, getattr(answer, "rows", ()), getattr(answer, "weeks", ())]


def test_a_section_is_left_out_where_it_is_not_for_the_choice() -> None:
    statement = """SELECT * FROM (
    -- only by: run
    SELECT 1
    -- end only
    -- only by: machine pool
    UNION ALL
    SELECT 2
    -- end only
) AS n"""
    assert sql.chosen(statement, frozenset({("by", "run")})).split()[2:] == ["FROM", "(", "SELECT", "1", ")", "AS", "n"]
    assert sql.chosen(statement, frozenset({("by", "pool")})).split()[2:] == [
        "FROM",
        "(",
        "SELECT",
        "2",
        ")",
        "AS",
        "n",
    ]


@pytest.mark.django_db
def test_a_choice_that_is_not_given_is_an_error() -> None:
    with pytest.raises(KeyError):
        sql.rows("goodput")
