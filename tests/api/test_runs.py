"""Runs: the list, one of them, its ledger, its timeline, and who is stalled."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import ANY

import pytest

from ledger.batches import Batch, Condition, RunItem
from ledger.core.categories import Phase
from ledger.core.windows import DAY, HOUR
from ledger.decode.values import instant, iso
from ledger.models import Run, Straggle, Worker
from tests.api.conftest import Api
from tests.api.history import History, tell
from tests.api.test_doors import everything
from tests.api.test_observations import problem
from tests.dashboards.world import run, small, state

LABELS = [
    "name", "uid", "workspace", "cluster", "kind", "user", "state", "stalled", "held_gpus", "waiting_gpus",
    "submitted_at", "ended_at", "outcome", "min_goodput", "verdict",
]  # fmt: skip


def ask(api: Api, path: str, token: str, **query: Any) -> dict[str, Any]:
    response = api.get(path, token, **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def uids(answer: dict[str, Any]) -> list[str]:
    return [row["uid"] for row in answer["runs"]]


def test_the_list_has_those_that_go_on_first(api: Api, history: History) -> None:
    answer = ask(api, "runs", history.reader)
    assert list(answer) == ["runs", "count", "next"]
    assert answer["count"] == len(answer["runs"]) == Run.objects.filter(workspace__organization__name="acme").count()
    assert all(list(row) == LABELS for row in answer["runs"])
    states = [row["state"] for row in answer["runs"]]
    assert states == sorted(states, reverse=True)
    llm = next(row for row in answer["runs"] if row["uid"] == "uid-llm")
    assert (llm["held_gpus"], llm["waiting_gpus"], llm["stalled"], llm["cluster"]) == (16, 0, True, "east")
    queued = next(row for row in answer["runs"] if row["uid"] == "uid-queued")
    assert (queued["held_gpus"], queued["waiting_gpus"], queued["stalled"]) == (0, 16, False)
    assert next(row for row in answer["runs"] if row["uid"] == "uid-choir")["held_gpus"] == 0.142


def test_filters(api: Api, history: History) -> None:
    def found(**query: str) -> set[str]:
        return set(uids(ask(api, "runs", history.reader, **query)))

    assert found(workspace="speech") == {"uid-choir"}
    assert found(user="sol") == {"uid-choir", "uid-w-choir"}
    assert found(q="LLM") == {"uid-llm", "uid-w-llm"}
    assert found(state="going") == {
        f"uid-{prefix}{name}" for prefix in ("", "w-") for name in ("llm", "queued", "choir")
    }
    assert found(state="going") | found(state="ended") == found()
    assert found(workspace="nothing") == set()


def test_pages(api: Api, history: History) -> None:
    whole = uids(ask(api, "runs", history.reader, q="sweep"))
    page = ask(api, "runs", history.reader, q="sweep", limit=5)
    seen = uids(page)
    while page["next"]:
        assert page["count"] == len(whole)
        page = api.client.get(page["next"], headers={"Authorization": f"Bearer {history.reader}"}).json()
        seen += uids(page)
    assert seen == whole
    assert len(seen) == 12


@pytest.mark.parametrize("query", [{"state": "over"}, {"state": ""}, {"limit": 1001}, {"sort": "name"}, {"run": "x"}])
def test_questions_that_cannot_be_answered(api: Api, query: dict[str, Any]) -> None:
    problem(api.get("runs", api.token("read"), **query), 400)


def test_one_run_its_conditions_and_its_workers(api: Api, history: History) -> None:
    answer = ask(api, "runs/llm", history.reader)
    assert list(answer) == [
        *LABELS, "attempts", "conditions", "source_conditions", "losses", "workers", "count", "next",
    ]  # fmt: skip
    assert [worker["worker"] for worker in answer["workers"]] == ["worker-0", "worker-1"]
    calm, stalled = answer["workers"]
    assert answer["attempts"] == 2
    assert (calm["phase"], calm["category"], calm["attempt"], calm["step"]) == ("running", "idle", 2, 1204)
    assert (stalled["category"], stalled["machine"], stalled["pool"], stalled["gpus"]) == (
        "stalled",
        "gpu-2",
        "h100",
        8,
    )
    assert history.now - instant(stalled["since"]) == 38 * 60_000
    assert [condition["type"] for condition in answer["conditions"]] == ["submitted", "idle", "stalled"]
    assert answer["conditions"][2] == {"type": "stalled", "since": stalled["since"], "workers": 1}


def test_what_a_run_lost_and_why(api: Api, history: History) -> None:
    lost = ask(api, "runs/llm", history.reader)["losses"]
    costs = [one["lost_gpu_hours"] for one in lost]
    assert costs == sorted(costs, reverse=True)
    whole = ask(api, "runs/llm/goodput", history.reader)["total"]["lost_gpu_hours"]
    assert abs(sum(costs) - whole) < 0.1, "all of it, but for the moment between two questions"
    assert {"stalled"} <= {one["category"] for one in lost}
    preempted = ask(api, "runs/sweep-0", history.reader)["losses"]
    assert [(one["category"], one["reasons"]) for one in preempted] == [("preemption", ["preemption"])]


def test_what_its_source_says_of_a_run(api: Api, history: History) -> None:
    batch = Batch("test", history.now)
    at = history.now - 60_000
    said = (Condition("Created", "True", "JobCreated", "", at), Condition("Running", "False", "", "it ran", None))
    batch.runs.append(RunItem(0, "uid-llm", None, None, None, None, None, None, None, None, said))
    tell(history.tenants.east, batch)
    told = [
        {"type": "Created", "status": "True", "reason": "JobCreated", "message": "", "at": iso(at)},
        {"type": "Running", "status": "False", "reason": "", "message": "it ran", "at": None},
    ]
    assert ask(api, "runs/llm", history.reader)["source_conditions"] == told
    batch.runs[0] = batch.runs[0]._replace(conditions=None, outcome="Failed")
    tell(history.tenants.east, batch)
    assert ask(api, "runs/llm", history.reader)["source_conditions"] == told, "who says nothing of them leaves them"


def test_a_run_that_is_over(api: Api, history: History) -> None:
    Run.objects.filter(uid="uid-sweep-0").update(outcome="succeeded")
    answer = ask(api, "runs/sweep-0", history.reader)
    assert answer["state"] == "ended"
    assert answer["conditions"][-1] == {"type": "ended", "since": None, "reason": "succeeded"}
    (worker,) = answer["workers"]
    assert (worker["phase"], worker["category"], worker["since"], worker["machine"]) == ("ended", None, None, None)


def test_a_name_is_the_newest_run_of_it_and_a_uid_exact(api: Api, history: History) -> None:
    newer = Batch("test", history.now)
    run(newer, "again", "ana", history.now - 2 * HOUR)
    state(newer, "again", "worker-0", history.now - HOUR, Phase.RUNNING, gpus_milli=1000, machine="gpu-3", pool="a100")
    tell(history.tenants.east, newer)
    Run.objects.filter(uid="uid-again").update(name="llm")
    assert ask(api, "runs/llm", history.reader)["uid"] == "uid-again"
    assert ask(api, "runs/uid-llm", history.reader)["uid"] == "uid-llm"
    assert ask(api, "runs/llm/goodput", history.reader)["rows"][0]["uid"] == "uid-again"


def test_a_uid_of_two_clusters_is_never_mixed(api: Api, history: History) -> None:
    """Schedulers count their jobs from 1: their uids are unique in their cluster and nowhere else."""
    whose = history.tenants.east, history.west
    for hours, cluster in zip((3, 5), whose, strict=True):
        told = Batch("test", history.now, seen_from=history.edge - 2 * DAY)
        small(told, "job", history.edge - 20 * HOUR + hours * HOUR, hours=hours)
        tell(cluster, told)
    answer = ask(api, "runs/uid-job/goodput", history.reader)
    assert len(answer["rows"]) == 1
    assert answer["total"]["allocated_gpu_hours"] in (3, 5)
    assert ask(api, "runs/uid-job", history.reader)["cluster"] in ("east", "west")


def test_a_run_named_like_anothers_uid(api: Api, history: History) -> None:
    Run.objects.filter(uid="uid-queued").update(name="uid-llm")
    assert ask(api, "runs/uid-llm", history.reader)["uid"] == "uid-llm"
    assert ask(api, "runs/uid-llm/goodput", history.reader)["rows"][0]["uid"] == "uid-llm"


def test_its_ledger_is_of_all_its_hours(api: Api, history: History) -> None:
    answer = ask(api, "runs/llm/goodput", history.reader, unit="gpu_us")
    assert history.edge - instant(answer["start"]) == 21 * DAY
    (row,) = answer["rows"]
    names = {"name": "llm", "uid": "uid-llm", "workspace": "vision"}
    assert row == names | answer["total"]
    assert (answer["by"], answer["next"]) == ("run", None)
    some = ask(api, "runs/llm/goodput", history.reader, unit="gpu_us", **history.closed(7))
    listed = ask(api, "goodput", history.reader, by="run", run="uid-llm", unit="gpu_us", **history.closed(7))
    assert {**some, "counted_until": ""} == {**listed, "counted_until": ""}
    assert ask(api, "runs/llm/goodput", history.reader, days=1)["start"] > answer["start"]


def test_a_run_of_which_nothing_was_counted_yet(api: Api, history: History) -> None:
    told = Batch("test", history.now)
    run(told, "announced", "ana", history.now)
    tell(history.tenants.east, told)
    answer = ask(api, "runs/announced/goodput", history.reader)
    assert (answer["rows"], "goodput" in answer["total"]) == ([], False)
    assert ask(api, "runs/announced", history.reader)["workers"] == []
    assert ask(api, "runs/announced/timeline", history.reader)["workers"] == []


def test_the_timeline_has_each_change_and_adds_up(api: Api, history: History) -> None:
    answer = ask(api, "runs/llm/timeline", history.reader, **history.closed())
    assert list(answer) == ["workers", "counted_until"]
    assert [lane["worker"] for lane in answer["workers"]] == ["worker-0", "worker-1"]
    first = answer["workers"][0]["segments"]
    assert list(first[0]) == ["from", "to", "category", "held", "unobserved", "gpus", "machine", "pool", "attempt"]
    told = [(segment["category"], segment["held"], segment["machine"], segment["attempt"]) for segment in first]
    changes = [one for number, one in enumerate(told) if number == 0 or one != told[number - 1]]
    assert changes == [
        ("waiting", False, "unplaced", 1),
        ("starting", True, "gpu-1", 1),
        ("productive", True, "gpu-1", 1),
        ("failure", True, "gpu-1", 1),
        ("failure", False, "unplaced", 2),
        ("productive", True, "gpu-1", 2),
        ("idle", True, "gpu-1", 2),
    ]
    whole = ask(api, "runs/llm/goodput", history.reader, unit="gpu_us", **history.closed())["total"]
    for category, amount in whole["gpu_hours"].items():
        spent = sum(
            round(segment["gpus"] * 1000) * (instant(segment["to"]) - instant(segment["from"]))
            for lane in answer["workers"]
            for segment in lane["segments"]
            if segment["category"] == category
        )
        assert spent == int(amount)


def test_the_timeline_is_clipped_to_the_millisecond(api: Api, history: History) -> None:
    start, end = history.edge - 5 * DAY + 123, history.edge - 5 * DAY + 456
    answer = ask(api, "runs/llm/timeline", history.reader, start=iso(start), end=iso(end))
    for lane in answer["workers"]:
        assert [(segment["from"], segment["to"]) for segment in lane["segments"]] == [(iso(start), iso(end))]
    still = ask(api, "runs/llm/timeline", history.reader)["workers"][1]["segments"][-1]
    assert (still["to"], still["category"]) == (None, "stalled")
    for query in ({"start": iso(end), "end": iso(start)}, {"start": iso(end), "end": iso(end)}, {"days": 1}):
        problem(api.get("runs/llm/timeline", history.reader, **query), 400)


def test_workers_that_are_stalled(api: Api, history: History) -> None:
    answer = ask(api, "workers", history.reader, state="stalled")
    assert list(answer) == ["workers", "at", "next"]
    assert [worker["uid"] for worker in answer["workers"]] == ["uid-llm", "uid-w-llm"]
    assert answer["workers"][0] == {
        "workspace": "vision", "run": "llm", "uid": "uid-llm", "worker": "worker-1", "machine": "gpu-2", "pool": "h100",
        "since": iso(history.now - 38 * 60_000), "step": 1204, "gpus": 8,
    }  # fmt: skip
    page = ask(api, "workers", history.reader, state="stalled", limit=1)
    assert [worker["uid"] for worker in page["workers"]] == ["uid-llm"]
    last = api.client.get(page["next"], headers={"Authorization": f"Bearer {history.reader}"}).json()
    assert ([worker["uid"] for worker in last["workers"]], last["next"]) == (["uid-w-llm"], None)
    assert ask(api, "workers", api.token("read", workspace=api.tenants.speech), state="stalled")["workers"] == []
    for query in ({}, {"state": "slow"}, {"state": "ended"}):
        assert "stalled" in problem(api.get("workers", history.reader, **query), 400)


def test_workers_that_are_stragglers(api: Api, history: History) -> None:
    assert ask(api, "workers", history.reader, state="straggler") == {
        "workers": [], "at": ANY, "next": None,
    }  # fmt: skip
    slow(history, "uid-llm", "worker-1")
    (found,) = ask(api, "workers", history.reader, state="straggler")["workers"]
    assert (found["worker"], found["run"], found["slower"], found["step_seconds"]) == ("worker-1", "llm", 2.0, 3.0)
    assert found["gpus_waiting"] == found["gang_gpus"] / 2
    assert ask(api, "workers", api.token("read", workspace=api.tenants.speech), state="straggler")["workers"] == []


def slow(history: History, run: str, worker: str) -> None:
    """Make a worker one that has been slower than its gang for an hour."""
    of = Worker.objects.get(run__uid=run, name=worker)
    since = datetime.fromtimestamp(history.now / 1000, UTC) - timedelta(hours=1)
    Straggle.objects.create(
        worker=of, machine_id=1, since=since, seen_at=since, confirmed=True, step_ms=3_000, gang_ms=1_500, behind=0
    )


def test_reports_of_training_come_back_as_the_pipeline(api: Api, history: History) -> None:
    at = iso(history.now)
    report = {"worker": "worker-0", "at": at, "step": 7, "batches": 4, "wall_seconds": 10, "source_seconds": 2.5}
    body = json.dumps({"sent_at": at, "batches": [report, {"worker": "worker-1", "at": at, "step": -1}]})

    def post(run: str, token: str) -> Any:
        header = {"Authorization": f"Bearer {token}"}
        return api.client.post(f"/v1/runs/{run}/batches", body, content_type="application/json", headers=header)

    sender = api.token("ingest")
    told = post("uid-llm", sender)
    assert told.status_code == 202
    assert told.json() == {
        "accepted": 1, "duplicate": 0, "late": 0,
        "refused": [{"list": "batches", "index": 1, "field": "step", "error": ANY}],
    }  # fmt: skip
    found = ask(api, "runs/llm/pipeline", history.reader)
    assert found["slowest"] == "worker-0"
    assert b'"wall_seconds":10.000000,' in api.get("runs/llm/pipeline", history.reader).content, "digits, not a float"
    assert found["workers"][0] == {
        "worker": "worker-0", "batches": 4, "wall_seconds": 10.0, "source_seconds": 2.5, "transform_seconds": 0.0,
        "transfer_seconds": 0.0, "productive_seconds": 2.5, "overhead_seconds": 7.5, "pipeline_goodput": 0.25, "at": at,
        "step": 7, "step_at": at, "step_seconds": None, "doing": None,
    }  # fmt: skip
    own = ask(api, "runs/llm/goodput", history.reader)
    assert own["start"] == found["start"] < found["end"] <= own["end"], "asked a moment before"
    assert post("uid-f-llm", sender).content == post("nothing", sender).content
    assert post("uid-llm", api.token("ingest", workspace=api.tenants.speech)).status_code == 404


@pytest.mark.parametrize("tail", ["", "/goodput", "/timeline", "/pipeline"])
def test_what_is_anothers_answers_like_what_there_is_not(api: Api, history: History, tail: str) -> None:
    vision = api.token("read", workspace=api.tenants.vision)
    for token, theirs in ((history.reader, "uid-f-llm"), (history.reader, "f-llm"), (vision, "uid-choir")):
        foreign, unknown = (everything(api.get(f"runs/{name}{tail}", token)) for name in (theirs, "nothing"))
        assert foreign[0] == 404
        assert foreign == unknown


@pytest.mark.parametrize("name", ["LLM", "llm%20", "%2e%2e", "l%00m", "n" * 254, "%ff", "%E2%80%A8", "llm;"])
def test_names_in_addresses_are_exact(api: Api, history: History, name: str) -> None:
    for tail in ("", "/goodput", "/timeline"):
        problem(api.get(f"runs/{name}{tail}", history.reader), 404)


def test_a_name_may_have_slashes(api: Api, history: History) -> None:
    Run.objects.filter(uid="uid-llm").update(name="team/llm")
    for tail in ("", "/goodput", "/timeline"):
        for name in ("team%2Fllm", "team/llm", "uid-llm"):
            ask(api, f"runs/{name}{tail}", history.reader)


def test_the_workers_of_a_run_come_in_pages(api: Api, history: History) -> None:
    whole = ask(api, "runs/llm", history.reader)
    assert whole["count"] == len(whole["workers"]) > 1
    assert whole["next"] is None
    pages, said = [], ask(api, "runs/llm", history.reader, limit=1)
    while said["next"]:
        assert said["conditions"] == whole["conditions"], "they are of all workers"
        pages += said["workers"]
        said = ask(api, said["next"].partition("/v1/")[2], history.reader)
    assert pages + said["workers"] == whole["workers"]
    for query in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"page": 2}):
        problem(api.get("runs/llm", history.reader, **query), 400)
