"""The OpenAPI document says what there is, and what comes is as it says."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.urls import URLPattern
from drf_spectacular.validation import validate_schema

from ledger.api.urls import urlpatterns
from tests.api.bodies import MACHINE, READING, RUN, WORKER
from tests.api.conftest import Api
from tests.api.history import History
from tests.api.test_observations import batch, problem, state

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def document(api: Api) -> dict[str, Any]:
    response = api.client.get("/v1/schema")
    assert response.status_code == 200
    found: dict[str, Any] = json.loads(response.content)
    return found


def check(document: dict[str, Any], name: str, value: Any) -> None:
    shape = {**document, "$ref": f"#/components/schemas/{name}"}
    jsonschema.Draft202012Validator(shape).validate(value)


def paths() -> set[str]:
    routes = {str(pattern.pattern) for pattern in urlpatterns if isinstance(pattern, URLPattern)}
    return {"/v1/" + re.sub(r"<path:(\w+)>", r"{\1}", route) for route in routes - {""}}


def test_every_path_is_in_the_document_and_in_the_documentation(document: dict[str, Any]) -> None:
    assert set(document["paths"]) == paths() - {"/v1/schema", "/v1/docs"}
    text = (DOCS / "api.md").read_text()
    for path in paths():
        assert path.translate({ord("{"): "<", ord("}"): ">"}) in text


def test_every_parameter_is_in_the_documentation(document: dict[str, Any]) -> None:
    text = (DOCS / "api.md").read_text()
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                assert f"`{parameter['name']}`" in text or f"<{parameter['name']}>" in text
            assert {"401", "403"} <= set(operation["responses"])
            assert operation["security"]


def test_every_key_of_an_item_is_in_the_documentation(document: dict[str, Any]) -> None:
    text = (DOCS / "observations.md").read_text()
    for name in ("Body", "Machine", "Run", "Worker", "Reading"):
        for key in document["components"]["schemas"][name]["properties"]:
            assert f"`{key}`" in text, key


def test_bodies_and_answers_are_as_the_document_says(api: Api, document: dict[str, Any]) -> None:
    token = api.token("read", "ingest")
    body = batch(runs=[{"uid": "8c1f", "workspace": "vision"}], workers=[state(60, phase="running", gpus=8), state(9)])
    check(document, "Body", body)
    check(document, "Body", batch(machines=[MACHINE], runs=[RUN], workers=[WORKER], readings=[READING]))
    body["workers"].append({"x": 1})
    with pytest.raises(jsonschema.ValidationError):
        check(document, "Body", body)
    check(document, "Receipt", api.post(body, token).json())
    check(document, "RefusedItems", api.get("clusters/east/refused", token).json())
    for by in ("workspace", "run", "machine"):
        for unit in ("gpu_hours", "gpu_us"):
            check(document, "Goodput", api.get("goodput", token, by=by, unit=unit, limit=1).json())
    check(document, "Problem", api.get("goodput", None).json())


def test_answers_of_every_address_are_as_the_document_says(document: dict[str, Any], history: History) -> None:
    api = Api(history.tenants)
    cluster = "organizations/acme/clusters/east/goodput"
    for path, shape, token, query in (
        ("goodput/weekly", "Weekly", history.reader, {"by": "run", "weeks": 3}),
        ("goodput/weekly", "Weekly", history.reader, {"by": "machine", "unit": "gpu_us"}),
        ("runs", "Runs", history.reader, {"limit": 5}),
        ("runs/llm", "RunNow", history.reader, {}),
        ("runs/sweep-0", "RunNow", history.reader, {}),
        ("runs/llm/goodput", "Goodput", history.reader, {}),
        ("runs/llm/timeline", "Timeline", history.reader, {}),
        ("workers", "StalledWorkers", history.reader, {"state": "stalled"}),
        (cluster, "Goodput", history.admin, {"by": "pool"}),
        (f"{cluster}/weekly", "Weekly", history.admin, {}),
    ):
        answer = api.get(path, token, **query)
        assert answer.status_code == 200
        check(document, shape, answer.json())


def test_the_document_is_valid_and_the_one_that_is_checked_in(document: dict[str, Any]) -> None:
    """`manage.py spectacular --format openapi-json --validate --file docs/openapi.json` writes it."""
    validate_schema(document)
    assert json.loads((DOCS / "openapi.json").read_text()) == document
    broken = {**document, "paths": {"/v1/goodput": {"get": {"responses": 7}}}}
    with pytest.raises(jsonschema.ValidationError):
        validate_schema(broken)


def test_the_document_is_for_everybody_and_has_no_hole(document: dict[str, Any], api: Api) -> None:
    known = set(document["components"]["schemas"])
    named = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert named <= known
    assert document["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    problem(api.client.post("/v1/schema"), 405)


def test_the_page_that_shows_it_has_no_script_or_style_of_its_own(api: Api) -> None:
    page = api.client.get("/v1/docs")
    text = page.content.decode()
    assert page.status_code == 200
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert "img-src 'self' data:" in page["Content-Security-Policy"]
    assert "unsafe" not in page["Content-Security-Policy"]
    assert "<style" not in text
    assert "style=" not in text
    assert "http" not in text.replace("https://www.w3.org", "")
    for script in text.split("<script")[1:]:
        assert script.split(">", 1)[1].startswith("</script>")
