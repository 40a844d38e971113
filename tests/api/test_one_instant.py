"""What is asked of several clusters reads the clock once: what is equal on two of them is equal in the answer."""

from typing import Any

import pytest
from django.db import connection

from ledger import queries
from ledger.access import Scope
from ledger.core.categories import Category
from ledger.core.windows import DAY, HOUR, Window
from ledger.decode.values import iso
from tests.api.conftest import Api
from tests.api.history import History

EACH_SECOND = """
CREATE SCHEMA ticking;
CREATE SEQUENCE ticking.seconds;
CREATE FUNCTION ticking.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
AS $$SELECT now() + interval '10 minutes' + nextval('ticking.seconds') * interval '1 second'$$;
SET LOCAL search_path = ticking, pg_catalog, public;
"""


@pytest.fixture
def ticking(history: History) -> None:
    """From here on the database's clock is ahead of all that was told, and a second later whenever it is read."""
    with connection.cursor() as cursor:
        cursor.execute(EACH_SECOND)


@pytest.fixture
def scope(history: History) -> Scope:
    return Scope(frozenset({history.tenants.vision.pk, history.tenants.speech.pk}))


def figures(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("name", "uid", "workspace")}


def test_runs_alike_on_two_clusters(api: Api, history: History, ticking: None) -> None:
    window = {"start": iso(history.edge), "end": iso(history.edge + HOUR)}
    answer = api.get("goodput", history.reader, by="run", unit="gpu_us", limit=100, **window).json()
    rows = {row["uid"]: row for row in answer["rows"]}
    for name in ("llm", "queued", "choir"):
        assert figures(rows[f"uid-{name}"]) == figures(rows[f"uid-w-{name}"])


def test_clusters_alike_in_a_scrape(history: History, scope: Scope, ticking: None) -> None:
    told = queries.scrape(scope, history.now)
    hour = told.spent["cluster", "hour"]
    assert len(hour.names) == 2
    assert all(east == west for east, west in (hour.held, *hour.amounts))
    waiting = {
        uid: amount for (_, _, uid), amount in zip(told.runs.names, told.runs.amounts[Category.WAITING], strict=True)
    }
    assert waiting["uid-queued"] - waiting["uid-w-queued"] == 16_000 * 2 * DAY


def test_troubles_of_machines_alike(history: History, scope: Scope, ticking: None) -> None:
    window = Window(history.edge, history.edge + HOUR)
    east, west = queries.troubles(scope, window, [], 2).rows
    assert (east.machine, east.since, east.until, east.ledger) == (west.machine, west.since, west.until, west.ledger)
