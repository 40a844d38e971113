"""Hostile requests: names that are markup, lines that would be log lines, hosts that are not ours, others' names."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

from goodput_site.logs import JsonLines
from ledger.models import Run
from tests.api.conftest import Api
from tests.api.history import History
from tests.api.test_doors import everything
from tests.api.test_observations import problem

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</textarea>'\"&amp;",
    "{{7*7}}",
    "javascript:alert(1)",
]
LINES = ["%0a{%22level%22:%22critical%22}", "%0d%0aX: y", "%1b[31m", "%e2%80%a8", "%00"]
FILTERED = {
    "goodput": ("cluster", "workspace", "run", "machine", "pool", "user", "q"),
    "goodput/weekly": ("cluster", "workspace", "run", "machine", "pool", "user", "q"),
    "runs": ("workspace", "user", "q"),
}
THEIRS = {
    "cluster": "away",
    "workspace": "hidden",
    "run": "uid-f-llm",
    "machine": "theirs",
    "pool": "theirs",
    "user": "eve",
    "q": "f-llm",
}


def told_later(answer: Any) -> Any:
    """An answer without the instant up to which it was counted."""
    return {key: value for key, value in answer.json().items() if key != "counted_until"}


@pytest.mark.parametrize("path", FILTERED)
def test_filters_by_names_of_others_find_what_unknown_names_find(api: Api, history: History, path: str) -> None:
    history.tenants.foreign.name = "hidden"
    history.tenants.foreign.save()
    history.tenants.foreign_east.name = "away"
    history.tenants.foreign_east.save()
    Run.objects.filter(uid="uid-f-llm").update(user="eve")
    for name in FILTERED[path]:
        theirs = api.get(path, history.reader, **{name: THEIRS[name]}, **({"by": "run"} if path != "runs" else {}))
        nobodys = api.get(path, history.reader, **{name: "never-heard-of"}, **({"by": "run"} if path != "runs" else {}))
        assert theirs.status_code == 200
        assert told_later(theirs) == told_later(nobodys)


@pytest.mark.parametrize("sort", ["name", "-name", "held", "-goodput"])
def test_no_order_and_no_page_shows_what_is_anothers(api: Api, history: History, sort: str) -> None:
    token = api.token("read", workspace=history.tenants.speech)
    for by in ("workspace", "run", "machine", "pool", "user"):
        answer = api.get("goodput", token, by=by, sort=sort, limit=1, days=30)
        text = answer.content.decode()
        while answer.json()["next"]:
            answer = api.client.get(answer.json()["next"], headers={"Authorization": f"Bearer {token}"})
            text += answer.content.decode()
        assert not any(name in text for name in ("vision", "llm", "sweep", "gpu-1", "h100", "ana"))


@pytest.mark.parametrize("name", MARKUP)
def test_markup_in_names_comes_as_json_or_as_a_file_and_is_never_sniffed(api: Api, history: History, name: str) -> None:
    Run.objects.filter(uid="uid-llm").update(name=name, user=name, outcome=name)
    for path in ("goodput", "runs", "runs/uid-llm", "runs/uid-llm/goodput", "runs/uid-llm/timeline", "goodput/weekly"):
        answer = api.get(path, history.reader)
        assert answer["Content-Type"] == "application/json"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert api.get("runs/uid-llm", history.reader).json()["name"] == name
    table = api.get("runs", history.reader, format="csv")
    assert table["Content-Type"].startswith("text/csv")
    assert table["Content-Disposition"].startswith("attachment")
    assert table["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("line", LINES)
def test_addresses_and_headers_make_one_log_line_each(
    api: Api, history: History, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    for path in (f"goodput{line}", f"runs/x{line}", f"runs?q=x{line}&nothing=1"):
        api.client.get(f"/v1/{path}", headers={"Authorization": f"Bearer {history.reader}", "User-Agent": "x\n{}"})
    assert caplog.records
    formatter = JsonLines()
    for record in caplog.records:
        text = formatter.format(record)
        assert text.isascii()
        assert text.isprintable()
        assert json.loads(text)["logger"] == record.name
        assert record.levelno < logging.CRITICAL
        assert history.reader not in text


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "testserver@evil.example", "", "a b"])
def test_a_host_that_is_not_ours_gets_nothing_and_is_in_no_link(api: Api, history: History, host: str) -> None:
    headers = {"Authorization": f"Bearer {history.reader}"}
    answer = Client().get("/v1/runs?limit=1", headers=headers, HTTP_HOST=host)
    assert answer.status_code == 400
    assert b"evil" not in answer.content
    forwarded = {**headers, "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    assert "evil" not in Client().get("/v1/runs?limit=1", headers=forwarded).json()["next"]


@pytest.mark.parametrize("path", ["goodput", "runs", "runs/llm", "workers", "goodput/weekly", "goodput/metrics"])
def test_a_token_in_the_address_is_refused_everywhere(api: Api, history: History, path: str) -> None:
    answer = api.client.get(f"/v1/{path}?token={history.reader}")
    assert history.reader not in problem(answer, 400)


def test_errors_are_the_same_words_for_everybody(api: Api, history: History) -> None:
    token = api.token("read", workspace=history.tenants.vision)
    answers = {
        everything(api.get(f"runs/{name}/{tail}", token))[1]
        for name in ("uid-choir", "uid-f-llm", "never-heard-of", "x" * 300, "%ff")
        for tail in ("goodput", "timeline")
    }
    assert len(answers) == 1
