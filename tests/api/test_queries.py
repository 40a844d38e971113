"""How many statements each answer takes: a number that does not depend on how much there is."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from ledger import queries
from tests.api.conftest import Api
from tests.api.history import History
from tests.api.test_observations import problem

OF_CLUSTER = "organizations/acme/clusters/east/goodput"
STATEMENTS = {  # the token is one, the workspaces of its organization another, the clock a third
    "goodput": 4,
    "goodput?by=run&format=csv": 4,
    "goodput/weekly?by=machine": 4,
    "goodput/metrics": 7,
    "runs": 3,
    "runs?limit=2&format=csv": 3,
    "runs/llm": 9,
    "runs/llm/goodput": 7,
    "runs/llm/goodput?days=3": 5,
    "runs/llm/timeline": 5,
    "workers?state=stalled": 4,
    OF_CLUSTER: 5,
    f"{OF_CLUSTER}/weekly": 5,
    "clusters/east/refused": 3,
}


def ask(api: Api, history: History, path: str) -> Any:
    every = api.token("read", "metrics", "admin")
    with CaptureQueriesContext(connection) as asked:
        answer = api.get(path, every)
    assert answer.status_code == 200
    return asked


@pytest.mark.parametrize("path", STATEMENTS)
def test_an_answer_takes_so_many_statements(api: Api, history: History, path: str) -> None:
    asked = ask(api, history, path)
    assert len(asked) == STATEMENTS[path], "\n".join(query["sql"][:100] for query in asked.captured_queries)


def test_an_answer_that_takes_too_long_is_given_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Postgres says it under a statement_timeout, which the web's connections have."""

    def slow(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 50")
            cursor.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr(queries, "goodput", slow)
    token = api.token("read")
    answer = api.get("goodput", token)
    assert "too long" in problem(answer, 503)
    assert answer["Retry-After"]


def test_a_database_that_is_away_is_another_matter(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("secret address")

    monkeypatch.setattr(queries, "goodput", away)
    answer = api.get("goodput", api.token("read"))
    assert "does not answer" in problem(answer, 503)
    assert "secret" not in answer.content.decode()
