"""Each published object of a real cluster is read with the value that stands beside it in the index."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from astra.collect.kubernetes import gpus, kubeflow, raw, rules
from astra.collect.kubernetes.context import queue_of
from astra.collect.kubernetes.gangs import Gang
from astra.collect.kubernetes.jobs import job_of, kubeflow_members
from astra.collect.kubernetes.mapping import Mapping
from astra.collect.kubernetes.nodes import POOL_LABELS, Fleet, node_of, pool_of
from astra.collect.kubernetes.pods import Pod, Ran, pod_of
from astra.collect.kubernetes.raw import ms
from astra.collect.kubernetes.states import Life, states_of
from tests.client.kubernetes.recordings import DATA

FOLDER = DATA / "k8s"
INDEX = (DATA / "INDEX.md").read_text()
ALL = tuple(sorted(path.name for path in FOLDER.iterdir()))
KUBEFLOW = tuple(name for name in ALL if re.match(r"(mpi|tf|pytorch|paddle)job_", name))


def indexed(name: str) -> str:
    """Return what the index says that a correct ledger makes of a file."""
    entry = INDEX.split(f"### k8s/{name}\n", 1)[1].split("\n### ", 1)[0]
    return entry.split("- A correct ledger: ", 1)[1].split("\n- ", 1)[0].strip()


def load(name: str) -> Any:
    text = (FOLDER / name).read_text()
    if name.endswith(".json"):
        return json.loads(text)
    read = next(yaml.safe_load_all(text))
    return json.loads(json.dumps(read, default=lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ")))


def whole(of: dict[str, Any]) -> dict[str, Any]:
    """Give a published example the uid and time of creation that it was published without."""
    named = {"uid": "uid", "name": "example", "creationTimestamp": "2019-07-09T22:15:51Z"}
    return {**of, "metadata": {**named, **of.get("metadata", {})}}


def pod(name: str) -> Pod:
    return pod_of(whole(load(name)))


def lived(of: Pod, milli: int = 8000) -> list[tuple[int, str, str]]:
    """Return the states of a pod as if it asked for GPUs: at, phase, reason."""
    life = Life(of, 0, of.meta.created, milli, "", "", (), None, None, {})
    return [(state.at, state.phase, state.reason) for state in states_of(life, Gang(0, ()))]


def at(text: str) -> int:
    found = ms(text)
    assert found is not None
    return found


@pytest.mark.parametrize("name", KUBEFLOW)
def test_kubeflow_jobs(name: str) -> None:
    of, said = load(name), indexed(name)
    status = kubeflow.status_of(raw.mapping(of, "status"))
    spec = kubeflow.spec_of(of["kind"], raw.mapping(of, "spec"))
    members = kubeflow_members(spec)
    total = sum(devices for one in members.values() for _, devices in one.demand)
    if "Conditions:" not in said:
        return documented(name, status, total, said)
    told = "; ".join(f"{c.type}={c.status}({c.reason}, {iso(c.last_transition_time)})" for c in status.conditions)
    assert f"Conditions: {told or 'no status at all (not yet reconciled)'}." in said
    assert f"startTime {iso(status.start_time)}, completionTime {iso(status.completion_time)}, " in said
    assert f"Current state: {status.state or 'none'}." in said
    assert f"GPUs requested in the spec: {total}." in said
    counted = said.split("replicaStatuses ", 1)[1].split(". Current state", 1)[0]
    if not counted.endswith("}"):
        return None  # the index cuts it short
    expected = json.loads(counted) or {}
    assert {name: (one.active, one.succeeded, one.failed) for name, one in status.replica_statuses.items()} == {
        name: tuple(one.get(key, 0) for key in ("active", "succeeded", "failed")) for name, one in expected.items()
    }
    return None


def documented(name: str, status: kubeflow.JobStatus, total: int, said: str) -> None:
    """The examples of the documentation, whose index entries are sentences."""
    assert status.state == "Succeeded"
    conditions = {c.type: c.last_transition_time for c in status.conditions}
    assert total == (2 if said.startswith("2 GPUs") else 0)
    clock = {kind: iso(moment)[11:] for kind, moment in conditions.items()}
    expected = {
        "mpijob_docs_succeeded.yaml": ("22:15:51Z", "22:15:54Z", "22:17:06Z"),
        "paddlejob_docs_succeeded.yaml": ("03:47:45Z", "04:04:28Z", "04:04:43Z"),
        "tfjob_docs_succeeded.yaml": ("11:48:10Z", "11:48:12Z", "11:49:30Z"),
    }[name]
    assert (iso(status.start_time)[11:], clock["Running"], clock["Succeeded"]) == expected
    assert all(moment in said for moment in expected)


def iso(moment: int | None) -> str:
    return "None" if moment is None else raw.iso(moment).replace(".000Z", "Z")


def test_batch_jobs() -> None:
    running, over = (job_of("Job", whole(load(f"job_{name}.yaml"))) for name in ("running", "succeeded"))
    assert running.end is None
    assert load("job_running.yaml")["status"]["startTime"] in indexed("job_running.yaml")
    assert over.end == (at("2018-12-02T08:19:26Z"), rules.COMPLETED)
    assert "2018-12-02T08:19:26Z" in indexed("job_succeeded.yaml")


def test_a_preempted_workload() -> None:
    queue = queue_of(whole(load("kueue_workload_preempted_status.yaml")))
    assert (queue.active, queue.cause, queue.evicted_at) == (True, rules.PREEMPTION, at("2024-03-21T15:49:55Z"))
    assert "Preempted at 2024-03-21T15:49:55Z" in indexed("kueue_workload_preempted_status.yaml")


def test_volcano_jobs() -> None:
    over, unseen = (job_of("VolcanoJob", whole(load(f"volcanojob_{number}.yaml"))) for number in ("01", "03"))
    assert [c.type for c in over.conditions] == ["Pending", "Running", "Completed"]
    assert over.end == (at("2025-09-29T10:57:38Z"), rules.COMPLETED)
    assert over.least == 3
    assert (unseen.end, unseen.conditions) == (None, ())


def test_a_pod_in_a_crash_loop_failed_and_holds() -> None:
    of = pod("pod_crashloop.yaml")
    assert (of.phase, of.restarts, of.is_over) == ("Running", 3, False)
    assert lived(of)[-1] == (at(_day(of) + "T09:20:25Z"), "failed", "")
    assert "restartCount 3" in indexed("pod_crashloop.yaml")


def _day(of: Pod) -> str:
    return raw.iso(of.meta.created)[:10]


def test_pods_that_are_over_hold_nothing() -> None:
    failed, succeeded = pod("pod_failed.yaml"), pod("pod_succeeded.yaml")
    assert failed.is_over
    assert failed.finished == at(_day(failed) + "T09:17:59Z")
    assert "09:17:59Z" in indexed("pod_failed.yaml")
    assert succeeded.is_over
    assert not failed.ran[-1].well


def test_a_native_sidecar() -> None:
    of = pod("pod_native_sidecar.json")
    assert of.scheduled == at("2024-08-24T01:54:32Z")
    assert of.ran == (Ran(0, at("2024-08-24T01:54:38Z")),)
    assert [phase for _, phase, _ in lived(of)] == ["pending", "starting", "running"]
    assert "6 s of starting" in indexed("pod_native_sidecar.json")


def test_a_pod_that_is_placed_and_not_ready_is_starting() -> None:
    of = pod("pod_pending.yaml")
    assert lived(of)[-1][1] == "starting"
    assert of.scheduled is not None
    assert raw.iso(of.scheduled)[11:19] == "10:16:04"
    assert "PodScheduled 10:16:04Z" in indexed("pod_pending.yaml")


@pytest.mark.parametrize("name", ["pod_running_restart_always.yaml", "pod_running_restart_onfailure.yaml"])
def test_running_pods(name: str) -> None:
    of = pod(name)
    assert (of.phase, of.is_over) == ("Running", False)
    assert of.demand == ()
    assert "Running" in indexed(name)


def test_a_pod_of_a_replica_set() -> None:
    of = pod("pod_running_replicaset.yaml")
    assert of.meta.owner is not None
    said = INDEX.split("### k8s/pod_running_replicaset.yaml\n", 1)[1].split("\n### ", 1)[0]
    assert (of.meta.owner.kind, of.restarts, of.demand) == ("ReplicaSet", 0, ())
    assert of.node in said
    assert of.node.startswith("ip-10-0-21-139")


def test_a_gke_node() -> None:
    node = node_of(whole(load("node_gke.yaml")))
    assert (node.pool, node.milli, node.ready, node.since) == ("default-pool", None, True, at("2019-07-09T16:17:49Z"))
    assert "pool = default-pool; 0 GPUs; Ready True since 2019-07-09T16:17:49Z" in indexed("node_gke.yaml")


def test_a_node_cut_into_slices() -> None:
    labels = load("node_labels_mig_mixed.json")
    assert gpus.capacity(labels, {}) == 1000, "one card, whatever it is cut into"
    share = gpus.share_on(labels)
    slices = {"nvidia.com/mig-1g.10gb": 142, "nvidia.com/mig-2g.20gb": 285, "nvidia.com/mig-3g.40gb": 428}
    assert {name: share(name) for name in slices} == slices
    assert 2 * 142 + 285 + 428 <= 1000
    assert "holds 3/7 of a GPU" in indexed("node_labels_mig_mixed.json")


def test_a_time_sliced_node() -> None:
    text = (FOLDER / "node_time_slicing_describe.txt").read_text()
    labels = dict(re.findall(r"(nvidia\.com/\S+)=(\S+)", text))
    advertised = int(re.search(r"nvidia\.com/gpu: +(\d+)", text)[1])  # type: ignore[index]
    assert advertised == 16
    assert gpus.capacity(labels, {"nvidia.com/gpu": str(advertised)}) == 4000
    assert gpus.milli((("nvidia.com/gpu", 1),), gpus.share_on(labels)) == 250
    assert "holds 1/4 of a GPU" in indexed("node_time_slicing_describe.txt")


def test_an_eks_node() -> None:
    text = (FOLDER / "node_eks_describe.txt").read_text()
    labels = dict(re.findall(r"(eks\.amazonaws\.com/\S+)=(\S+)", text))
    assert pool_of(labels, POOL_LABELS) == "node-group-1"
    assert "node-group-1" in indexed("node_eks_describe.txt")


def test_a_vendors_own_resource_is_counted_when_it_is_said() -> None:
    more = frozenset({"alibabacloud.com/gpu-count"})
    nodes = list(yaml.safe_load_all((FOLDER / "nodes_alibaba_a.yaml").read_text()))
    by_model: dict[str, int] = {}
    fleet = Fleet()
    for number, of in enumerate(nodes):
        node = node_of(whole({**of, "metadata": {**of["metadata"], "uid": str(number)}}), more=more)
        fleet.put(node)
        assert node.milli is not None
        model = node.meta.labels["alibabacloud.com/gpu-card-model"]
        by_model[model] = by_model.get(model, 0) + node.milli // 1000
    assert str(by_model) in indexed("nodes_alibaba_a.yaml")
    assert (sum(by_model.values()), len(fleet.nodes)) == (498, 102)
    assert node_of(whole(nodes[0])).milli is None, "not by itself: its names are a vendor's own"


def test_descriptions_of_people() -> None:
    """What kubectl prints for people is not read by the agent; the same facts, given as an object, are."""
    killed = (FOLDER / "pod_oomkilled_describe.txt").read_text()
    restarts = int(re.search(r"Restart Count: +(\d+)", killed)[1])  # type: ignore[index]
    ended = {"exitCode": 137, "startedAt": "2025-02-27T07:36:21+01:00", "finishedAt": "2025-02-27T07:36:22+01:00"}
    waiting = {"name": "memory-eater", "restartCount": restarts, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    status = {"phase": "Running", "containerStatuses": [{**waiting, "lastState": {"terminated": ended}}]}
    spec = {"nodeName": "grafana-cloud-control-plane", "containers": [{"name": "memory-eater"}]}
    of = pod_of({"metadata": whole({})["metadata"], "spec": spec, "status": status})
    assert (of.restarts, of.ran[-1].end, of.ran[-1].well) == (6, at("2025-02-27T06:36:22Z"), False)
    assert "failed 6 times by OOM" in indexed("pod_oomkilled_describe.txt")
    unplaced = (FOLDER / "pod_unschedulable_describe.txt").read_text()
    assert re.search(r"^Node: +<none>", unplaced, re.MULTILINE)
    nowhere = pod_of(whole({"spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Pending"}}))
    assert [phase for _, phase, _ in lived(nowhere)] == ["pending"]


def test_a_cluster_without_gpus_says_nothing() -> None:
    rows = (FOLDER / "pods_all_wide.txt").read_text().splitlines()[1:]
    states: dict[str, int] = {}
    mapping = Mapping()
    for number, row in enumerate(filter(str.strip, rows)):
        namespace, name, _, state = row.split()[:4]
        states[state] = states.get(state, 0) + 1
        metadata = {"namespace": namespace, "name": name, "uid": str(number)}
        status = {"phase": "Running" if state != "Completed" else "Succeeded"}
        mapping.put("Pod", whole({"metadata": metadata, "spec": {"nodeName": "n"}, "status": status}), 0)
    assert str(states) in indexed("pods_all_wide.txt")
    assert not any(mapping.changes(1))


def test_every_file_is_read_here() -> None:
    text = Path(__file__).read_text()
    stems = {"job_running.yaml", "job_succeeded.yaml", "volcanojob_01.yaml", "volcanojob_03.yaml"}
    assert [name for name in ALL if name not in KUBEFLOW and name not in stems and name not in text] == []
