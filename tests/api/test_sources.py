"""What agents ask of a cluster: whose the GPUs are now; and how its sources do."""

from typing import Any

import pytest

from ledger.models import Cluster
from ledger.queries import sources_now
from tests.api.conftest import Api, instant


def tell(api: Api, token: str, *, ago: float = 60, source: str = "kubernetes/east", **body: Any) -> None:
    answer = api.post({"source": source, "sent_at": instant(ago), **body}, token)
    assert (answer.status_code, answer.json()["refused"]) == (202, []), answer.content


def told(worker: str, phase: str, ago: float = 300, **more: Any) -> dict[str, Any]:
    return {"run": "8c1f", "worker": worker, "at": instant(ago), "phase": phase, "gpus": 2, **more}


def run(workspace: str = "vision", uid: str = "8c1f") -> dict[str, Any]:
    return {"uid": uid, "name": "llm", "workspace": workspace}


def workers(api: Api, token: str, **query: Any) -> Any:
    answer = api.get("clusters/east/workers", token, **query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_who_holds_gpus_and_where_their_readings_are(api: Api) -> None:
    token = api.token("ingest")
    tell(
        api, token, runs=[run()],
        workers=[
            told("worker-0", "running", machine="gpu-7", pool="h100", pod="vision/llm-0"),
            told("worker-1", "starting", machine="gpu-7", pool="h100", devices=["0", "GPU-5fd4"]),
            told("worker-2", "pending", pod="vision/llm-2"),
            told("worker-3", "ended", machine="gpu-7", pod="vision/llm-3"),
        ],
    )  # fmt: skip
    answer = workers(api, token)
    shared = {"workspace": "vision", "run": "8c1f", "name": "llm", "machine": "gpu-7", "pool": "h100", "gpus": 2}
    assert answer["workers"] == [
        {**shared, "worker": "worker-0", "pod": "vision/llm-0", "devices": []},
        {**shared, "worker": "worker-1", "pod": None, "devices": ["0", "GPU-5fd4"]},
    ]
    assert answer["next"] is None


def test_pages_follow_each_other(api: Api) -> None:
    token = api.token("ingest")
    tell(api, token, runs=[run()], workers=[told(f"w-{k}", "running", machine="m") for k in range(5)])
    seen, answer = [], workers(api, token, limit=2)
    while True:
        seen += [worker["worker"] for worker in answer["workers"]]
        if not answer["next"]:
            break
        answer = api.client.get(answer["next"], headers={"Authorization": f"Bearer {token}"}).json()
    assert seen == [f"w-{k}" for k in range(5)]


def test_a_token_of_a_workspace_sees_that_alone(api: Api) -> None:
    token = api.token("ingest")
    tell(
        api, token, runs=[run(), run("speech", "77aa")],
        workers=[told("w", "running", machine="m"), {**told("v", "running", machine="m"), "run": "77aa"}],
    )  # fmt: skip
    assert [worker["worker"] for worker in workers(api, token)["workers"]] == [
        "v",
        "w",
    ]  # by id: runs in the order of their uids
    of_speech = workers(api, api.token("ingest", workspace=api.tenants.speech))
    assert [worker["worker"] for worker in of_speech["workers"]] == ["v"]
    foreign = api.token("ingest", of=api.tenants.globex)
    assert workers(api, foreign)["workers"] == []


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [
        ({"pod": "a/p-0"}, {}, ("a/p-0", "")),
        ({"pod": "a/p-0"}, {"pod": "a/p-1"}, ("a/p-1", "")),
        ({"pod": "a/p-0"}, {"pod": ""}, ("", "")),
        ({"devices": ["0", "1"]}, {"pod": "a/p-0"}, ("a/p-0", "0,1")),
        ({"devices": ["0", "1"]}, {"devices": []}, ("", "")),
    ],
)
def test_the_newest_state_that_says_it_counts(
    api: Api, first: dict[str, Any], then: dict[str, Any], kept: tuple[str, str]
) -> None:
    from ledger.models import Worker

    token = api.token("ingest")
    states = [told("w", "running", 200, machine="m", **then), told("w", "starting", 300, machine="m", **first)]
    tell(api, token, runs=[run()], workers=states)  # the older one stands last
    assert Worker.objects.values_list("pod", "devices").get() == kept


@pytest.mark.parametrize("bad", [{"pod": "p-0"}, {"pod": "a/b/c"}, {"devices": ["0,1"]}, {"devices": ["x"] * 65}])
def test_what_is_no_pod_and_no_device_is_refused(api: Api, bad: dict[str, Any]) -> None:
    answer = api.post(
        {"source": "s", "sent_at": instant(0), "runs": [run()], "workers": [told("w", "running", **bad)]},
        api.token("ingest"),
    ).json()
    assert [fault["field"] for fault in answer["refused"]] == list(bad)


def test_how_sources_do(api: Api) -> None:
    token = api.token("ingest", "admin")
    tell(api, token, ago=10, runs=[run()], workers=[told("w", "running", machine="m")])
    tell(api, token, ago=900, source="slurm/main", workers=[told("v", "running", 1000, machine="m")])
    tell(api, token, ago=900, source="dcgm/east")
    answer = api.get("clusters/east/sources", token).json()["sources"]
    assert [(one["source"], one["live_workers"], one["stale_since"] is not None) for one in answer] == [
        ("dcgm/east", 0, False),
        ("kubernetes/east", 1, False),
        ("slurm/main", 1, True),
    ]
    stale = next(one for one in sources_now() if one.stale_since)
    assert stale.word_at is not None
    assert stale.stale_since == stale.word_at + Cluster.objects.get(name="east", organization__name="acme").carry_max_ms


def test_a_list_that_is_held_back_is_said_to_be(api: Api) -> None:
    token = api.token("ingest")
    states = [told(f"w-{k}", "running", machine="m") for k in range(10)]
    tell(api, token, ago=100, runs=[run()], workers=states, complete=True)
    assert api.get("clusters/east/sources", token).json()["sources"][0]["vanished_since"] is None
    tell(api, token, ago=60, complete=True)
    (one,) = api.get("clusters/east/sources", token).json()["sources"]
    assert one["vanished_since"] is not None
    assert one["live_workers"] == 10
