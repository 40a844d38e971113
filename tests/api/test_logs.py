"""Log goodput over HTTP: lines in, the measurement out, frozen when the run is over."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import queries
from ledger.batches import Batch
from ledger.ingest import ingest
from ledger.measuring.answers import answer, freeze_due
from ledger.models import LogStream, Measurement, Run, Worker
from tests.api.shipping import PLAIN, Logs, ago, end, logs
from tests.dashboards.world import run

__all__ = ["logs"]


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


def test_a_checkpoint_is_no_stall(logs: Logs) -> None:
    """No progress is expected while it is saved, also as long as the process is seen."""
    step = "iteration 10/ 100 | consumed samples: 40 | elapsed time per iteration (ms): 900.0 |"
    lines = [f"{ago(1500)} {step}", f"{ago(1400)} saving checkpoint at iteration 10 to /checkpoints"]
    logs.send(lines, profile="megatron-training", first=0)
    logs.send([], seen_at=ago(1), first=2)
    assert logs.ask("GET", "workers?state=stalled").json()["workers"] == []


def test_a_run_names_its_profile(logs: Logs) -> None:
    now = queries.now()
    told = Batch("test", now)
    run(told, "other", "ana", now)
    told.runs[0] = told.runs[0]._replace(log_profile="maxtext")
    for _ in range(2):
        assert ingest(logs.api.tenants.east, told).refused == []
    assert Measurement.objects.get().profile == "maxtext"
    third = {"uid": "uid-third", "workspace": "vision", "log_profile": "torchtitan"}
    body = {"source": "t", "sent_at": ago(0), "runs": [third]}
    assert logs.ask("POST", "clusters/east/observations", body).status_code == 202
    assert Measurement.objects.get(run__uid="uid-third").profile == "torchtitan"


def test_what_a_run_had_to_reach_is_a_metric(logs: Logs) -> None:
    logs.ask("PUT", "runs/llm/measurement", {"logProfileRef": "maxtext", "thresholds": {"avgStepTimeSec": "value < 2"}})
    logs.send([f"{ago(900 - n)} completed step: {n}, seconds: 5.0, TFLOP/s/device: 1" for n in range(4)], first=0)
    token = logs.api.token("metrics")
    told = 'astraeus_run_threshold_met{namespace="vision",run="llm",figure="avgStepTimeSec"} 0'
    assert told not in logs.ask("GET", "goodput/metrics", token=token).content.decode()
    end(logs.api, 90)
    assert freeze_due(queries.now()) == 1
    assert told in logs.ask("GET", "goodput/metrics", token=token).content.decode()


def test_a_hung_log_proves_a_stall(logs: Logs) -> None:
    logs.send([f"{ago(1500)} completed step: 1, seconds: 2.5, TFLOP/s/device: 1"], profile="maxtext", first=0)
    logs.send([], seen_at=ago(1), first=1)
    stalled = logs.ask("GET", "workers?state=stalled").json()["workers"]
    assert [(one["worker"], one["step"]) for one in stalled] == [("worker-0", 1)]


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


def test_lines_that_were_dropped_are_counted_as_far_as_numbers_go(logs: Logs) -> None:
    for first in range(3):
        sent = logs.send(["x"], profile="maxtext", first=first, dropped=2**53)
        assert sent.status_code == 202
    assert LogStream.objects.get().dropped == 2**53


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
