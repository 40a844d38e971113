"""Requests generated from the OpenAPI document, good ones and bad ones: answered as it says, never with 5xx."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ledger.logs.builtin import BUILTIN
from ledger.measuring import profiles
from ledger.models import Token
from tests.api.conftest import instant, one_connection
from tests.api.history import History

SCHEMA = schemathesis.openapi.from_dict(json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text()))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
PHASES = [Phase.generate, Phase.shrink]
SOME = 40
THERE = {"run": "uid-llm", "organization": "acme", "cluster": "east", "name": "mine"}
MINE = BUILTIN["maxtext"] | {"metadata": {"name": "mine"}}
BODIES: dict[str, Any] = {
    "makeLogProfile": MINE,
    "saveLogProfile": MINE,
    "testLogProfile": {"profile": "mine", "lines": ["completed step: 1, seconds: 2.5"]},
}  # what chance does not write
OPERATIONS = {found.ok().definition.raw["operationId"]: found.ok() for found in SCHEMA.get_all_operations()}


@pytest.fixture(autouse=True)
def measured(history: History) -> None:
    """The run that is asked for is measured by its log, and the profile is there."""
    profiles.save(history.tenants.acme, "mine", MINE, "test")
    token = {"Authorization": f"Bearer {Token.issue(history.tenants.acme, None, ['admin', 'ingest'])[1]}"}
    path, wish = f"/v1/runs/{THERE['run']}/measurement", {"logProfileRef": "hf-trainer"}
    assert Client().put(path, wish, content_type="application/json", headers=token).status_code == 200


@pytest.fixture(autouse=True)
def in_process(measured: None) -> Iterator[None]:
    """The application is asked in this process."""
    with one_connection():
        yield


def ask(history: History, name: str, requests: int) -> Counter[int]:
    """Ask an operation so many times, well and badly; return how often it was answered with each status."""
    plain = Token.issue(history.tenants.acme, None, ["read", "metrics", "ingest", "admin"])[1]
    token = {"Authorization": f"Bearer {plain}"}
    application = WSGIHandler()
    good, bad = (OPERATIONS[name].as_strategy(generation_mode=mode) for mode in GenerationMode)
    counted: Counter[int] = Counter()

    @hypothesis_settings(max_examples=requests, phases=PHASES, suppress_health_check=list(HealthCheck), deadline=None)
    @given(good | bad)
    def asked(case: Any) -> None:
        if len(str(case.query)) % 2 or not case.query:  # else of what there is not
            case.path_parameters = {key: THERE.get(key, value) for key, value in (case.path_parameters or {}).items()}
        if isinstance(case.body, dict) and len(str(case.body)) % 2:  # else with an instant of another year
            case.body |= {"source": "generated", "sent_at": instant(0)}
        if name in BODIES and len(str(case.body)) % 3 == 0:
            case.body, case.media_type = BODIES[name], "application/json"
        response = case.call(app=application, headers=token)
        case.validate_response(response, checks=CHECKS)
        counted[response.status_code] += 1

    asked()
    return counted


@pytest.mark.parametrize("name", OPERATIONS)
def test_some_requests(history: History, name: str) -> None:
    counted = ask(history, name, SOME)
    assert counted.total() >= SOME
    assert counted.keys() & {200, 202, 400}


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS)
def test_20_000_requests(history: History, name: str) -> None:
    each = -(-20_000 // len(OPERATIONS))
    counted = ask(history, name, each)
    print(f"{name}: {counted.total()} requests, {dict(sorted(counted.items()))}")  # with -s
    assert counted.total() >= each
    assert counted.keys() & {200, 201, 202, 204}
