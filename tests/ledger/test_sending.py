"""Statements without the sections that have no part, and which are prepared."""

from typing import Any

import pytest
from django.db import connection

from ledger import sql
from ledger.access import scope_of_organization
from ledger.core.windows import DAY, HOUR, Window
from ledger.models import Cluster
from ledger.queries import Filters, goodput
from ledger.sql import sending
from tests.evidence import Settings
from tests.postgres_world import make_cluster
from tests.worlds import MONDAY

STATEMENTS = sorted(path.stem for path in sending.FOLDER.glob("*.sql"))


@pytest.fixture
def nothing_prepared(django_db_setup: None, django_db_blocker: Any) -> None:
    with django_db_blocker.unblock():
        connection.close()


@pytest.fixture
def cluster(nothing_prepared: None, db: None) -> Cluster:
    return make_cluster(Settings(), MONDAY)


def ask(cluster: Cluster, days: int = 7, by: str = "run", **options: Any) -> Any:
    window = Window(MONDAY - days * DAY, MONDAY + HOUR)
    return goodput(scope_of_organization(cluster.organization), window, by, **options)


def prepared() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements ORDER BY prepare_time, name")
        return [statement for (statement,) in cursor.fetchall()]


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
    cut = {by: " ".join(sending.chosen(statement, frozenset({("by", by)})).split()) for by in ("run", "pool")}
    assert cut == {by: f"SELECT * FROM ( SELECT {n} ) AS n" for by, n in (("run", 1), ("pool", 2))}


def test_one_statement_is_prepared_for_all_windows_and_one_for_each_grouping(cluster: Cluster) -> None:
    for days in (7, 8, 56):
        ask(cluster, days)
    assert len(prepared()) == 1
    assert "'run'" in prepared()[0]
    ask(cluster, by="machine")
    ask(cluster, sort="name")
    assert len(prepared()) == 3


@pytest.mark.parametrize("filters", [{"user": "ana"}, {"q": "llm"}, {"run": "llm"}, {"machine": "m"}, {"pool": "p"}])
def test_what_is_looked_for_is_never_written_into_what_is_prepared(cluster: Cluster, filters: dict[str, str]) -> None:
    ask(cluster, filters=Filters(**filters))
    assert prepared() == []


def test_only_the_last_few_stay_prepared(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "PREPARED_MAX", 2)
    for by in ("run", "machine", "pool"):
        ask(cluster, by=by)
    assert ["'machine' = 'machine'" in each for each in prepared()] == [True, False], "by machine and by pool"


def test_a_connection_that_allows_no_preparing_answers_the_same(cluster: Cluster) -> None:
    told = ask(cluster)
    connection.connection.prepare_threshold = None
    before = len(prepared())
    assert ask(cluster, 9).rows == told.rows
    assert len(prepared()) == before
    connection.connection.prepare_threshold = 5


def test_only_words_truth_values_and_null_are_written_into_a_statement() -> None:
    fixed = frozenset({("a", "run"), ("b", True), ("c", None), ("d", "")})
    assert sending.settled("%(a)s %(b)s %(c)s %(d)s %(e)s", fixed) == "'run' true NULL '' %(e)s"
    for bad in ("a'b", "a b", "%", "a;"):
        with pytest.raises(ValueError, match="not a word"):
            sending.settled("%(a)s", frozenset({("a", bad)}))


@pytest.mark.parametrize("name", [name for name in STATEMENTS if "-- Prepared" in sending.text(name)])
def test_a_statement_says_rightly_for_what_it_is_prepared(name: str) -> None:
    statement = sending.text(name)
    preparing = sending._preparing(statement)
    assert preparing is not None, "the line is not as it should be"
    for parameter in (*preparing.each, *preparing.without):
        assert f"%({parameter})s" in statement, parameter
