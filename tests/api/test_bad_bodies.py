"""Bodies and questions that mean harm, where logs, reports and profiles are taken: each is answered."""

import json
from typing import Any

import pytest
from django.db import transaction

from tests.api.shipping import PLAIN, Logs, logs

__all__ = ["logs"]
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("PUT", "runs/llm/measurement"): {
        "logProfileRef": "maxtext",
        "sampleInterval": 5,
        "thresholds": {"goodput": "value >= 0.85"},
    },
    ("POST", "runs/llm/logs"): {
        "lines": ["x"],
        "attempt": 1,
        "worker": "worker-0",
        "first": 0,
        "profile": "maxtext",
        "seen_at": "2026-11-01T00:00:00Z",
        "dropped": 0,
    },
    ("POST", "runs/llm/batches"): {
        "sent_at": "2026-11-01T00:00:00Z",
        "batches": [{"worker": "w", "at": "2026-11-01T00:00:00Z"}],
    },
    ("POST", "log-profiles"): PLAIN,
    ("PUT", "log-profiles/plain"): PLAIN,
    ("POST", "log-profiles/test"): {"lines": ["x"], "profile": PLAIN, "text": "a: 1"},
}
VALUES = (
    "null",
    "true",
    "-1",
    "1e308",
    "1e400",
    "NaN",
    "9" * 25,
    "0.1",
    '""',
    '"\\u0000"',
    '"\\ud800"',
    '"' + "x" * 10_000 + '"',
    "[]",
    "{}",
    '[null, 1, "\\u0000"]',
    '{"\\u0000": 1}',
    "[" * 5_000 + "]" * 5_000,
    '{"a":' * 2_000 + "1" + "}" * 2_000,
    '"0001-01-01T00:00:00Z"',
    '"9999-12-31T23:59:59Z"',
    '"a/../b"',
    '"\\u202e"',
    '{"name": "\\u0000"}',
    '{"goodput": "value >= 1e999999999"}',
    '{"goodput": "value >= ' + "9" * 180 + '"}',
    '["a\\u0000b"]',
    '["' + "x" * 9_000 + '"]',
)
REPORTS = (
    "batches",
    "wall_seconds",
    "source_seconds",
    "transform_seconds",
    "transfer_seconds",
    "step",
    "step_seconds",
    "doing",
    "worker",
    "at",
)
QUESTIONS = {
    "alerts": ("state", "rule", "limit", "offset"),
    "workers": ("state", "limit", "offset"),
    "clusters/east/workers": ("limit", "after"),
    "clusters/east/sources": ("limit",),
    "runs/llm/pipeline": ("start", "end"),
    "log-profiles/maxtext": ("version", "format"),
}
ASKED = (
    "",
    "a\0b",
    "-1",
    "0",
    "9" * 10,
    "9" * 25,
    "1e3",
    "NaN",
    "²",
    "x" * 5_000,
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "\u202e",
)


def status_of(logs: Logs, method: str, path: str, body: str, kind: str = "application/json") -> int:
    with transaction.atomic():
        status = logs.ask(method, path, body, kind).status_code
        transaction.set_rollback(True)
    return int(status)


@pytest.mark.parametrize("at", BODIES, ids="-".join)
def test_every_value_of_a_body_may_be_anything(logs: Logs, at: tuple[str, str]) -> None:
    body = BODIES[at]
    made = {}
    for key in body:
        for value in VALUES:
            text = ", ".join(f'"{k}": {value if k == key else json.dumps(v)}' for k, v in body.items())
            made[key, value[:60]] = status_of(logs, *at, "{" + text + "}")
    made |= {("", value[:60]): status_of(logs, *at, value) for value in VALUES}
    assert {asked: status for asked, status in made.items() if status >= 500} == {}


def test_every_value_of_a_report_may_be_anything(logs: Logs) -> None:
    made = {}
    for key in REPORTS:
        for value in VALUES:
            report = {"worker": '"worker-0"', "at": '"2026-11-01T00:00:00Z"', "batches": "1"} | {key: value}
            text = ", ".join(f'"{k}": {v}' for k, v in report.items())
            body = f'{{"sent_at": "2026-11-01T00:00:00Z", "batches": [{{{text}}}]}}'
            made[key, value[:60]] = status_of(logs, "POST", "runs/llm/batches", body)
    assert {asked: status for asked, status in made.items() if status >= 500} == {}


@pytest.mark.parametrize("at", BODIES, ids="-".join)
def test_a_key_said_twice_is_refused(logs: Logs, at: tuple[str, str]) -> None:
    key, value = next(iter(BODIES[at].items()))
    assert status_of(logs, *at, f'{json.dumps(BODIES[at])[:-1]}, "{key}": {json.dumps(value)}}}') == 400
    report = '{"sent_at": "2026-11-01T00:00:00Z", "batches": [{"worker": "w", "worker": "v"}]}'
    assert status_of(logs, "POST", "runs/llm/batches", report) == 400


@pytest.mark.parametrize("path", QUESTIONS)
def test_every_question_may_be_anything(logs: Logs, path: str) -> None:
    said = {
        (name, value): logs.api.get(path, logs.token, **{name: value}) for name in QUESTIONS[path] for value in ASKED
    }
    assert {asked: answer.status_code for asked, answer in said.items() if answer.status_code >= 500} == {}


@pytest.mark.parametrize(
    "text",
    [
        "a: !!int ''",
        "a: !!int '-'",
        "a: !!float ''",
        "a: !!bool x",
        "a: !!timestamp x",
        "a: !!set {b}",
        "a: 0x" + "f" * 5_000,
        'a: "\\ud800"',
        'a: "\\0"',
        "[" * 60_000,
        "{a: " * 15_000,
        "- " * 30_000,
    ],
)
def test_what_is_no_plain_yaml_is_refused(logs: Logs, text: str) -> None:
    for method, path in (("POST", "log-profiles"), ("PUT", "log-profiles/plain")):
        assert status_of(logs, method, path, text, "application/yaml") == 400
    tried = {"text": text, "lines": []}
    assert status_of(logs, "POST", "log-profiles/test", json.dumps(tried)) == 400
