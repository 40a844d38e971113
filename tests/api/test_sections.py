"""A statement without its sections for other choices says what the whole of it says; one that is prepared, too."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import product
from typing import Any

import pytest
from django.db.models import F

from ledger import queries, sql
from ledger.access import scope_of_organization, scope_of_workspace
from ledger.core.windows import DAY, HOUR, WEEK, Window, floor_day
from ledger.models import Cluster, Pool, Price
from ledger.queries import Filters
from ledger.sql import sending
from tests.api.history import History
from tests.postgres_world import moment

WINDOWS = (9 * DAY + 7 * HOUR, 3 * WEEK, 17 * WEEK)
FILTERS = (Filters(), Filters(pool="h100"), Filters(user="ana"))
OF_COSTS = (*FILTERS, Filters(machine="gpu-1"), Filters(machine="gpu-1", user="ana"), Filters(q="a"))
SPOTS = (("machine", "gpu-1"), ("pool", "h100"))
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
    asks += [partial(queries.find_spots, scope, *each) for each in SPOTS]
    for ask in asks:
        with uncut(monkeypatch, lengths):
            long = ask()
        assert long == ask() != (), ask
    assert len(lengths) == 5


@pytest.mark.django_db
@pytest.mark.parametrize("ask", [queries.goodput, queries.weekly])
def test_costs(monkeypatch: pytest.MonkeyPatch, history: History, ask: Any) -> None:
    for pool in Pool.objects.filter(cluster__organization=history.tenants.acme):
        for days in (1, 5, 13):
            since = moment(floor_day(history.now) - days * DAY)
            Price.objects.create(pool=pool, since=since, micros=(1 + pool.pk % 7) * days * 1_000)
    Cluster.objects.update(counted_until=F("open_hour") + timedelta(hours=1))
    whole, lengths, names = scope_of_organization(history.tenants.acme), set[int](), set[str]()
    window = Window(history.edge - 17 * DAY - 7 * HOUR, history.edge + HOUR)
    scopes = (whole, scope_of_workspace(history.tenants.vision))
    for by, filters, scope in product(queries.GROUPINGS, OF_COSTS, scopes):
        with uncut(monkeypatch, lengths):
            long = ask(scope, window, by, filters).costs
        with unprepared(monkeypatch, names):
            at_once = ask(scope, window, by, filters).costs
        assert long == at_once == ask(scope, window, by, filters).costs, (by, filters)
        assert long.whole.held > 0 or filters.q
    assert "costs" in names


@pytest.mark.django_db
def test_what_is_prepared(monkeypatch: pytest.MonkeyPatch, history: History) -> None:
    """Of each scope alone and in a cluster: statements with and without it are other ones."""
    window = Window(history.edge - 9 * DAY - 7 * HOUR, history.edge)
    whole, names = scope_of_organization(history.tenants.acme), set[str]()
    for scope in (whole, replace(whole, cluster=history.west.pk), scope_of_workspace(history.tenants.vision)):
        spots = [queries.find_spots(scope, *each) for each in SPOTS]
        asks: list[Any] = [partial(queries.hourly, scope, window, of) for of in OF_HOURS]
        asks += [partial(queries.find_spots, scope, *each) for each in SPOTS]
        asks += [partial(queries.troubles, scope, window, each, 9) for each in (*spots, ())]
        asks += [partial(ask, scope) for ask in (queries.stalled_now, queries.stragglers_now, queries.first_hour)]
        asks += [partial(queries.straggled_runs, scope, ["gpu-1", "gpu-4"], history.now)]
        for ask in asks:
            with unprepared(monkeypatch, names):
                at_once = ask()
            assert ask() == at_once, ask
    assert len(names) == 7


@contextmanager
def unprepared(monkeypatch: pytest.MonkeyPatch, names: set[str]) -> Iterator[None]:
    """Statements with all of their literals; `names` gets those that would be prepared."""
    sent = sql.sent

    def literal(name: str, parameters: dict[str, Any]) -> Any:
        if sent(name, parameters).is_prepared:
            names.add(name)
        with monkeypatch.context() as patched:
            patched.setattr(sending, "_preparing", lambda _: None)
            return sent(name, parameters)

    with monkeypatch.context() as patched:
        patched.setattr(sql, "sent", literal)
        yield


@contextmanager
def uncut(monkeypatch: pytest.MonkeyPatch, lengths: set[int]) -> Iterator[None]:
    """Statements as a whole and unprepared; `lengths` gets those that they would have."""
    chosen = sending.chosen

    def whole(statement: str, choices: frozenset[tuple[str, str]]) -> str:
        lengths.add(len(chosen(statement, choices)))
        return statement

    with monkeypatch.context() as patched:
        patched.setattr(sending, "chosen", whole)
        patched.setattr(sending, "_preparing", lambda statement: None)
        yield


def answered(answer: Any) -> list[Any]:
    assert answer.total.amounts != (0,) * 8
    return [answer.total, answer.window, getattr(answer, "rows", ()), getattr(answer, "weeks", ())]


@pytest.mark.django_db
def test_a_choice_that_is_not_given_is_an_error() -> None:
    with pytest.raises(KeyError):
        sql.rows("goodput")
