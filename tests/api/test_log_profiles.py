"""Log profiles over HTTP: kept in versions, refused by the name of their pattern, tried on lines."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.logs.builtin import BUILTIN
from ledger.models import Change
from tests.api.conftest import Tenants
from tests.api.shipping import AS_YAML, PLAIN, Logs, ago, logs

__all__ = ["logs"]


def test_profiles_are_kept_in_versions(logs: Logs) -> None:
    assert logs.ask("POST", "log-profiles", AS_YAML, "application/yaml").json()["version"] == 1
    assert logs.ask("PUT", "log-profiles/plain", AS_YAML, "application/yaml").json()["version"] == 1
    logs.send([f"{ago(90)} step 1"], profile="plain", first=0)
    assert logs.ask("PUT", "log-profiles/plain", PLAIN).json()["version"] == 2
    assert logs.ask("GET", "log-profiles/plain").json()["document"] == PLAIN
    assert "done" not in logs.ask("GET", "log-profiles/plain?version=1&format=yaml").content.decode()
    logs.send([f"{ago(60)} done 1"], first=1)
    found = logs.ask("GET", "runs/llm/measurement").json()
    assert found["spec"]["logProfileRef"]["version"] == 1
    assert "lastCheckpointStep" not in found["status"]
    assert logs.ask("DELETE", "log-profiles/plain").status_code == 204
    assert logs.ask("GET", "log-profiles/plain").status_code == 404
    assert logs.ask("DELETE", "log-profiles/plain").status_code == 404
    assert logs.ask("PUT", "log-profiles/plain", PLAIN).json()["version"] == 3
    told = Change.objects.filter(what__startswith="log_profile").values_list("what", flat=True)
    assert sorted(told) == ["log_profile_retired", *["log_profile_saved"] * 3]


def test_a_resource_comes_out_as_it_went_in(logs: Logs) -> None:
    document = BUILTIN["megatron-training"] | {"metadata": {"name": "mine", "labels": {"team": "vision"}}}
    logs.ask("POST", "log-profiles", document)
    text = logs.ask("GET", "log-profiles/mine?format=yaml")
    assert text.headers["Content-Type"].startswith("application/yaml")
    assert logs.ask("PUT", "log-profiles/mine", text.content.decode(), "application/yaml").json() == (
        logs.ask("GET", "log-profiles/mine").json()
    )
    assert logs.ask("GET", "log-profiles/mine").json()["document"] == document


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"trainingStep": {"regex": r"(?=x)"}}, "spec.patterns.trainingStep.regex: does not compile: look-ahead"),
        ({"trainingStep": {"regex": r"(a)\1"}}, "spec.patterns.trainingStep.regex: does not compile"),
        ({"trainingStep": {"regex": "a{1000}{1000}"}}, "spec.patterns.trainingStep.regex: does not compile"),
        ({"trainingStep": {"regex": "x", "example": "y"}}, "spec.patterns.trainingStep.example: is not matched"),
        ({"trainingStep": {"regex": "x", "units": "minutes"}}, "spec.patterns.trainingStep.units.stepTiming: must be"),
        ({"trainingStep": {"regex": "(?P<speed>x)"}}, "spec.patterns.trainingStep.regex: captures speed"),
        ({"trainingStep": {"regex": "x" * 1025}}, "spec.patterns.trainingStep.regex: must have at most 1,024 bytes"),
        ({"firstStep": {"regex": "x"}}, "spec.patterns.firstStep: is not known"),
        ({}, "spec.patterns: needs a trainingStep or a bandwidthResult"),
    ],
)
def test_a_bad_profile_is_refused_by_the_name_of_its_pattern(logs: Logs, change: Any, why: str) -> None:
    document = {
        "kind": "LogProfile",
        "metadata": {"name": "bad"},
        "spec": {"timestamp": {"layout": "RFC3339"}, "patterns": change},
    }
    answered = logs.ask("POST", "log-profiles", document)
    assert answered.status_code == 400
    assert answered.json()["detail"].startswith(why)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("a: &x [1]\nb: *x", "application/yaml"),
        ("a: [", "application/yaml"),
        ("- 1", "application/yaml"),
        ("!!python/object:os.system {}", "application/yaml"),
        ("a: " + "[" * 20_000, "application/yaml"),
        ('{"kind": ', "application/json"),
        ("[1]", "application/json"),
        ('{"metadata": {"name": "a\\u0000"}}', "application/json"),
        ("? [a]\n: b", "application/yaml"),
        ('{"metadata": {"name": ""}, "spec": {}}', "application/json"),
    ],
)
def test_what_is_no_profile(logs: Logs, body: str, kind: str) -> None:
    assert logs.ask("POST", "log-profiles", body, kind).status_code == 400


def test_a_built_in_profile_is_not_changed(logs: Logs) -> None:
    assert logs.ask("PUT", "log-profiles/maxtext", BUILTIN["maxtext"]).status_code == 400
    assert logs.ask("GET", "log-profiles/maxtext").json()["version"] == 0
    assert {one["name"] for one in logs.ask("GET", "log-profiles").json()["profiles"]} == set(BUILTIN)


def test_who_reads_and_who_writes_profiles(logs: Logs, tenants: Tenants) -> None:
    logs.ask("POST", "log-profiles", PLAIN)
    reader, of_workspace = logs.api.token("read"), logs.api.token("admin", workspace=tenants.vision)
    assert logs.ask("GET", "log-profiles/plain", token=reader).status_code == 200
    assert logs.ask("DELETE", "log-profiles/plain", token=reader).status_code == 403
    assert logs.ask("DELETE", "log-profiles/plain", token=of_workspace).status_code == 403
    foreign = logs.api.token("admin", of=tenants.globex)
    nowhere = logs.ask("GET", "log-profiles/nowhere", token=foreign)
    for method in ("GET", "DELETE"):
        answered = logs.ask(method, "log-profiles/plain", token=foreign)
        assert (answered.status_code, answered.content) == (404, nowhere.content)
    operator = Client()
    operator.force_login(User.objects.create_user("op", is_staff=True))
    assert operator.delete("/v1/log-profiles/plain?organization=globex").status_code == 404
    assert operator.delete("/v1/log-profiles/plain").status_code == 400
    assert operator.delete("/v1/log-profiles/plain?organization=acme").status_code == 204
    member = Client()
    member.force_login(User.objects.create_user("mia"))
    assert member.delete("/v1/log-profiles/plain").status_code == 403


def test_a_profile_is_tried(logs: Logs) -> None:
    lines = ["2026-10-01T12:00:00Z completed step: 1, seconds: 2.5, TFLOP/s/device: 130.5, loss: 9", "noise"]
    found = logs.ask("POST", "log-profiles/test", {"profile": "maxtext", "lines": lines}).json()
    assert found["lines"] == [
        {
            "line": 1,
            "text": lines[0][21:],
            "matches": [
                {
                    "pattern": "trainingStep",
                    "captured": {"globalStep": "1", "stepTiming": "2.5", "tflops": "130.5", "loss": "9"},
                    "units": {"stepTiming": "s"},
                    "at": "2026-10-01T12:00:00.000Z",
                    "problems": [],
                }
            ],
        }
    ]
    none = logs.ask("POST", "log-profiles/test", {"profile": PLAIN, "lines": ["x"] * 5_000}).json()
    assert none["warnings"][0] == "0 of 5,000 lines matched trainingStep"
    assert logs.ask("POST", "log-profiles/test", {"profile": PLAIN, "lines": ["x"] * 5_001}).status_code == 400
    assert logs.ask("POST", "log-profiles/test", {"profile": "nobody", "lines": []}).status_code == 404
