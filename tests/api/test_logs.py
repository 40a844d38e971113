"""Log goodput over HTTP: profiles, lines in, the measurement out, frozen when the run is over."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger import queries
from ledger.batches import Batch
from ledger.core.categories import Phase
from ledger.ingest import ingest
from ledger.logs.builtin import BUILTIN
from ledger.measuring.answers import answer, freeze_due
from ledger.models import Change, Measurement, Run, Worker
from tests.api.conftest import Api, Tenants
from tests.dashboards.world import run, state

PLAIN = {
    "kind": "LogProfile",
    "metadata": {"name": "plain"},
    "spec": {
        "timestamp": {"layout": "RFC3339"},
        "patterns": {
            "applicationStart": {"regex": "^start$"},
            "trainingStep": {"regex": r"^step (?P<globalStep>\d+)"},
            "checkpointDone": {"regex": r"^done (?P<step>\d+)"},
        },
    },
}
AS_YAML = """
kind: LogProfile
metadata: {name: plain}
spec:
  timestamp: {layout: RFC3339}
  patterns:
    trainingStep: {regex: '^step (?P<globalStep>\\d+)', example: step 5}
"""


class Logs:
    """The interface of logs, with a token that may do all."""

    def __init__(self, api: Api) -> None:
        self.api, self.client = api, Client()
        self.token = api.token("read", "ingest", "admin")

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json", token: str = "") -> Any:
        data = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return self.client.generic(method, f"/v1/{path}", data, content_type=kind, headers=headers)

    def send(self, lines: list[str], run: str = "llm", **more: Any) -> Any:
        return self.ask("POST", f"runs/{run}/logs", {"lines": lines, **more})

    def status(self, run: str = "llm") -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"runs/{run}/measurement").json()["status"]
        return found


@pytest.fixture
def logs(api: Api) -> Logs:
    now = queries.now()
    told = Batch("test", now)
    run(told, "llm", "ana", now - 3_600_000)
    state(told, "llm", "worker-0", now - 3_600_000, Phase.RUNNING, gpus_milli=8000, machine="gpu-1")
    assert ingest(api.tenants.east, told).refused == []
    return Logs(api)


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def end(api: Api, seconds_ago: float, outcome: str = "Succeeded") -> None:
    ended = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    Run.objects.filter(cluster=api.tenants.east).update(ended_at=ended, outcome=outcome)
    Measurement.objects.update(created_at=ended - timedelta(hours=1))


def test_lines_become_a_measurement(logs: Logs) -> None:
    told = [f"{ago(1800)} start", f"{ago(1680)} step 1", f"{ago(600)} step 20", f"{ago(300)} done 20"]
    assert logs.ask("POST", "log-profiles", PLAIN).status_code == 201
    answered = logs.send(told, profile="plain", first=0)
    assert (answered.status_code, answered.json()) == (
        202,
        {"read": 4, "again": 0, "left": 0, "events": 4, "frozen": False},
    )
    assert logs.send(told, first=0).json()["again"] == 4
    found = logs.ask("GET", "runs/llm/measurement").json()
    assert found["spec"]["logProfileRef"] == {"name": "plain", "version": 1}
    assert found["status"]["currentStep"] == 20
    assert abs(float(found["status"]["trainingTimeSec"]) - 1800) < 60
    assert abs(float(found["status"]["resumeTimeSec"]) - 120) < 1
    assert found["provisional"] is True
    assert found["read"]["lines"] == 4


def test_a_finished_run_says_the_same_bytes_for_ever(logs: Logs) -> None:
    """R01: a minute after the end, three hours after it, and after lines that come too late."""
    step = "completed step: {}, seconds: 5.0, TFLOP/s/device: 135.0"
    logs.send([f"{ago(1800)} {step.format(0)}", f"{ago(900)} {step.format(1)}"], profile="maxtext", first=0)
    end(logs.api, 90)
    first = logs.ask("GET", "runs/llm/measurement").content
    assert json.loads(first)["provisional"] is False
    assert logs.send([f"{ago(10)} {step.format(9)}"], first=2).json()["frozen"]
    run = Run.objects.get(name="llm")
    later = answer(run.pk, queries.now() + 3 * 3_600_000)
    assert later is not None
    assert logs.ask("GET", "runs/llm/measurement").content == first == later.text.encode()
    Run.objects.filter(pk=run.pk).update(outcome="Failed", ended_at=datetime.now(UTC))
    assert logs.ask("GET", "runs/llm/measurement").content == first
    end_said = datetime.fromisoformat(json.loads(first)["status"]["completionTime"])
    assert end_said < datetime.now(UTC) - timedelta(seconds=80)


def test_one_last_read_is_waited_for(logs: Logs) -> None:
    logs.send([f"{ago(900)} completed step: 1, seconds: 5.0, TFLOP/s/device: 1"], profile="maxtext", first=0)
    end(logs.api, 5)
    assert logs.ask("GET", "runs/llm/measurement").json()["provisional"] is True
    logs.send([f"{ago(8)} completed step: 2, seconds: 5.0, TFLOP/s/device: 1"], first=1)
    assert freeze_due(queries.now()) == 0
    assert freeze_due(queries.now() + 60_000) == 1
    assert freeze_due(queries.now() + 60_000) == 0
    found = logs.ask("GET", "runs/llm/measurement").json()
    assert (found["provisional"], found["status"]["currentStep"]) == (False, 2)


def test_the_log_of_a_run_that_was_over_is_brought_in_later(logs: Logs) -> None:
    """It is frozen when nothing more has come for a sample interval."""
    Run.objects.update(ended_at=datetime.now(UTC) - timedelta(days=9), outcome="Succeeded")
    step = "completed step: {}, seconds: 5.0, TFLOP/s/device: 135.0"
    for number in range(2):
        logs.send([f"{ago(9 * 86400 + 60 - number)} {step.format(number)}"], profile="maxtext", first=number)
        assert logs.ask("GET", "runs/llm/measurement").json()["provisional"] is True
    assert freeze_due(queries.now()) == 0
    assert freeze_due(queries.now() + 61_000) == 1
    assert logs.status()["currentStep"] == 1


def test_a_profile_that_never_matches_is_no_data(logs: Logs) -> None:
    """R03."""
    logs.send([f"{ago(900)} epoch {number}" for number in range(5_000)], profile="maxtext", first=0)
    end(logs.api, 90)
    found = logs.ask("GET", "runs/llm/measurement").json()["status"]
    assert "result" not in found
    assert found["conditions"][1]["reason"] == "NoDataCollected"
    assert "trainingStep" in found["conditions"][1]["message"]


def test_a_worker_whose_clock_is_behind(logs: Logs) -> None:
    """R35: the next attempt starts two minutes before the last line of the one before it, by its own clock."""
    step = "completed step: {}, seconds: 1.0, TFLOP/s/device: 1"
    logs.send([f"{ago(1800)} Running Model", f"{ago(1700)} {step.format(1)}", f"{ago(600)} {step.format(9)}"],
              profile="maxtext", first=0)  # fmt: skip
    logs.send([f"{ago(720)} Running Model", f"{ago(700)} {step.format(2)}"], first=0, attempt=2)
    end(logs.api, 90)
    found = logs.status()
    assert found["rescheduleTimeSec"] == "0.000000"
    assert float(found["resumeTimeSec"]) >= 0
    assert abs(float(found["skewSec"]) - 120) < 1


def test_steps_of_a_log_are_progress(logs: Logs) -> None:
    step = "completed step: {}, seconds: 2.5, TFLOP/s/device: 1"
    logs.send([f"{ago(100 - n * 10)} {step.format(n)}" for n in range(5)], profile="maxtext", first=0)
    worker = Worker.objects.get(name="worker-0")
    assert (worker.step, worker.step_ms) == (4, 2500)
    seen = ago(0)
    logs.send([], seen_at=seen, first=5)
    worker.refresh_from_db()
    assert worker.step == 4
    assert worker.step_at == datetime.fromisoformat(seen)


def test_a_hung_log_proves_a_stall(logs: Logs) -> None:
    logs.send([f"{ago(1500)} completed step: 1, seconds: 2.5, TFLOP/s/device: 1"], profile="maxtext", first=0)
    logs.send([], seen_at=ago(1), first=1)
    stalled = logs.ask("GET", "workers?state=stalled").json()["workers"]
    assert [(one["worker"], one["step"]) for one in stalled] == [("worker-0", 1)]


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


def test_thresholds_are_judged_after_the_end(logs: Logs) -> None:
    wish = {
        "logProfileRef": {"name": "maxtext"},
        "thresholds": {"goodputRatio": "value >= 0.5", "avgStepTimeSec": "value < 2"},
    }
    assert logs.ask("PUT", "runs/llm/measurement", wish).status_code == 200
    lines = [f"{ago(900 - n)} completed step: {n}, seconds: 5.0, TFLOP/s/device: 1" for n in range(4)]
    logs.send(lines, first=0)
    assert {one["outcome"] for one in logs.ask("GET", "runs/llm/measurement").json()["thresholds"]} == {"pending"}
    end(logs.api, 90)
    found = logs.ask("GET", "runs/llm/measurement").json()["thresholds"]
    assert [(one["figure"], one["outcome"]) for one in found] == [("goodputRatio", "pass"), ("avgStepTimeSec", "fail")]
    late = logs.ask("PUT", "runs/llm/measurement", {"thresholds": {}})
    assert late.status_code == 409


@pytest.mark.parametrize(
    "thresholds",
    [{"speed": "value > 1"}, {"goodputRatio": "value >= x"}, {"goodputRatio": "__import__('os')"}, {"goodputRatio": ""},
     {"goodputRatio": "value >= 1" + " " * 200}, {"goodputRatio": 1}],
)  # fmt: skip
def test_an_unknown_figure_or_expression_is_refused_at_once(logs: Logs, thresholds: Any) -> None:
    wish = {"logProfileRef": "maxtext", "thresholds": thresholds}
    assert logs.ask("PUT", "runs/llm/measurement", wish).status_code == 400
    assert not Measurement.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {}, {"lines": 1}, {"lines": [1]}, {"lines": [], "attempt": 0}, {"lines": [], "first": -1},
        {"lines": [], "worker": "a\n"}, {"lines": [], "seen_at": "today"}, {"lines": [], "dropped": -1},
        {"lines": [], "more": 1}, {"lines": []}, {"lines": [], "profile": "nobody"},
    ],
)  # fmt: skip
def test_what_is_no_window(logs: Logs, body: Any) -> None:
    assert logs.ask("POST", "runs/llm/logs", body).status_code == 400


def test_a_body_of_8_mib_and_one_byte_more(logs: Logs) -> None:
    start, close = '{"profile": "maxtext", "first": 0, "lines": "', '"}'
    whole = start + "x" * (8 * 1024 * 1024 - len(start) - len(close)) + close
    assert logs.ask("POST", "runs/llm/logs", whole).status_code == 202
    assert logs.ask("POST", "runs/llm/logs", whole + " ").status_code == 413


def test_a_measurement_keeps_its_profile(logs: Logs) -> None:
    assert logs.ask("GET", "runs/llm/measurement").status_code == 404
    assert logs.ask("PUT", "runs/llm/measurement", {"logProfileRef": "plain"}).json()["status"]["conditions"][0][
        "reason"
    ] == ("LogProfileNotFound")
    logs.ask("POST", "log-profiles", PLAIN)
    assert logs.send([f"{ago(60)} step 1"], first=0).status_code == 202
    assert logs.ask("PUT", "runs/llm/measurement", {"logProfileRef": "maxtext"}).status_code == 409
    assert logs.status()["currentStep"] == 1


def test_data_of_the_repository_over_http(logs: Logs, shared_data: Path) -> None:
    text = (shared_data / "logs/megatron_ds_tr8_104B_rollbacks.log").read_text()
    assert logs.ask("POST", "runs/llm/logs", {"lines": text, "profile": "megatron-training"}).status_code == 202
    found = logs.status()
    assert (found["interruptionCount"], found["highestStep"], found["currentStep"]) == (2, 11448, 9027)
    assert logs.ask("POST", "runs/llm/logs", {"lines": text}).json()["read"] == 0
