"""What users of such systems reported, and the rules that the recordings do not reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from astra.collect.kubernetes import gpus, rules
from tests.client.kubernetes.building import Told, at, condition, job, meta, node, owned, pod, ref, stamp, wants


def test_pods_of_one_name_in_two_namespaces_are_two_runs() -> None:
    told = Told()
    small = pod("database-0", uid="a", runs="12:00:05", containers=[wants(1)])
    large = pod("database-0", uid="b", runs="12:00:05", containers=[wants(8)])
    large["metadata"]["namespace"] = "speech"
    said = told.put("12:00:06", node(), small, large)
    assert [line for line in said if "running" in line] == [
        "pod-0 12:00:05 running 1 1@gpu-1",
        "pod-0 12:00:05 running 1 8@gpu-1",
    ]
    assert {(run["uid"], run["workspace"]) for run in told.runs.values()} == {("a", "vision"), ("b", "speech")}
    again = Told()
    assert again.put("12:05:00", node(), small, large) == said


def test_a_node_that_reports_no_gpus_is_unknown() -> None:
    told = Told()
    told.put(
        "12:00:06", node(nvidia_com__gpu="0", labels={"nvidia.com/gpu.present": "true"}), pod("p", runs="12:00:05")
    )
    assert "gpus" not in told.machines.get("gpu-1", {})
    assert gpus.capacity({}, {"nvidia.com/gpu": "0"}) is None


def test_a_request_is_counted_once() -> None:
    both = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8"}}}
    sidecar = {**wants(1, name="side"), "restartPolicy": "Always"}
    cases: dict[str, tuple[list[Any], list[Any], int]] = {
        "limits and requests are the same": ([both], [], 8),
        "an init container runs before": ([both], [wants(8, name="init")], 8),
        "a larger init container": ([wants(2)], [wants(8, name="init")], 8),
        "two containers": ([wants(2), wants(3, name="b")], [], 5),
        "a sidecar beside": ([wants(2)], [sidecar], 3),
        "an init container after its sidecar": ([wants(2)], [sidecar, wants(4, name="init")], 5),
        "only in limits": ([wants(4, side="limits")], [], 4),
        "only in requests": ([wants(4, side="requests")], [], 4),
        "none": ([{"name": "main"}], [], 0),
    }
    for what, (containers, before, expected) in cases.items():
        found = gpus.demand_of({"containers": containers, "initContainers": before})
        assert sum(devices for _, devices in found) == expected, what


def test_cards_of_all_vendors() -> None:
    counted = (
        "nvidia.com/gpu",
        "amd.com/gpu",
        "google.com/tpu",
        "habana.ai/gaudi",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
    )
    for name in (*counted, "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "nvidia.com/mig-1c.3g.40gb"):
        assert gpus.is_gpu(name), name
    for name in (
        "cpu",
        "memory",
        "gpu.intel.com/millicores",
        "nvidia.com/mig",
        "nvidia.com/gpu.memory",
        "example.com/gpu",
    ):
        assert not gpus.is_gpu(name), name
    assert gpus.is_gpu("example.com/gpu", frozenset({"example.com/gpu"}))
    parts = {"nvidia.com/mig-7g.80gb": 1000, "nvidia.com/mig-4g.40gb": 571, "nvidia.com/mig-1g.10gb.shared": 142}
    assert {name: gpus.part_of_card(name) for name in parts} == parts
    assert gpus.part_of_card("nvidia.com/mig-1g.6gb", "NVIDIA-A30") == 250


def test_a_card_shared_in_time_is_never_more_than_a_card() -> None:
    told = Told()
    shared = {"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "4"}
    told.put("12:00:00", node(labels=shared, nvidia_com__gpu="4"))
    said = told.put("12:00:06", *(pod(f"p{n}", runs="12:00:05", containers=[wants(1)]) for n in range(4)))
    assert [line for line in said if "running" in line] == ["pod-0 12:00:05 running 1 0.25@gpu-1"] * 4
    assert told.machines["gpu-1"]["gpus"] == 1


def test_devices_of_a_claim_are_counted_as_allocated() -> None:
    told = Told()
    results = [{"driver": "gpu.nvidia.com", "device": f"gpu-{n}"} for n in range(2)]
    claim = {
        "kind": "ResourceClaim",
        "metadata": meta("two-cards"),
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": [{"name": "p"}]},
    }
    claimed = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "two-cards"}]}
    said = told.put("12:00:06", node(), claim, pod("p", runs="12:00:05", containers=[{"name": "main"}], status=claimed))
    assert said[-1] == "pod-0 12:00:05 running 1 2@gpu-1"


def test_a_job_that_is_stopped_holds_until_its_pods_are_gone() -> None:
    """A cluster that is suspended and kept for hours holds nothing."""
    told = Told()
    llm = job(worker=1)
    running = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05")
    told.put("12:00:06", node(), llm, running)
    suspended = {**llm, "spec": {**llm["spec"], "runPolicy": {"suspend": True}}}
    suspended["status"] = {"conditions": [condition("Suspended", "12:10:00")]}
    dying = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05", deleted="12:10:30", grace=30)
    assert told.put("12:10:01", suspended, dying) == ["worker-0 12:10:00 stopping owner 1 8@gpu-1"]
    dead = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05", ended="12:10:07", code=143, phase="Failed",
               deleted="12:10:07")  # fmt: skip
    assert told.drop("12:10:08", dead) == ["worker-0 12:10:07 ended owner 2"]
    assert told.changes("23:00:00") == []
    assert told.mapping.everything().workers == ()


def test_a_failed_member_counts_as_itself() -> None:
    """The job's condition is still Running, the server failed, the workers go on."""
    told = Told()
    tf = job("mnist", "TFJob", {"conditions": [condition("Running", "12:00:05")]}, ps=1, worker=2)
    server = pod("mnist-ps-0", **owned(tf, "ps"), runs="12:00:05")
    workers = [pod(f"mnist-worker-{n}", **owned(tf, "worker", n), runs="12:00:05") for n in range(2)]
    told.put("12:00:06", node(), tf, server, *workers)
    crashed = pod("mnist-ps-0", **owned(tf, "ps"), runs="12:00:05", ended="12:05:00", code=1)
    assert told.put("12:05:01", crashed) == ["ps-0 12:05:00 failed 1 8@gpu-1"]
    failed = pod("mnist-ps-0", **owned(tf, "ps"), runs="12:00:05", ended="12:05:00", code=1, phase="Failed")
    assert told.put("12:05:02", failed) == ["ps-0 12:05:00 pending failure 2 8"]


def test_restarts_are_counted_by_labels_where_no_container_restarted() -> None:
    told = Told()
    labels = {
        "jobset.sigs.k8s.io/replicatedjob-name": "node", "jobset.sigs.k8s.io/job-index": "1",
        "batch.kubernetes.io/job-completion-index": "0", "jobset.sigs.k8s.io/restart-attempt": "0",
        "jobset.sigs.k8s.io/job-restart-attempt": "1", "jobset.sigs.k8s.io/jobset-name": "llama",
        "jobset.sigs.k8s.io/jobset-uid": "set",
    }  # fmt: skip
    other = {**labels, "jobset.sigs.k8s.io/job-index": "0", "jobset.sigs.k8s.io/job-restart-attempt": "0"}
    owner = {"kind": "Job", "name": "llama-node-1", "uid": "unread"}
    said = told.put(
        "12:00:06",
        node(),
        pod("a", labels=labels, owner=owner, runs="12:00:05"),
        pod("b", labels=other, owner=owner, runs="12:00:05"),
    )
    assert "node-1-0 12:00:00 starting 2 8@gpu-1" in said
    assert "node-0-0 12:00:00 starting 1 8@gpu-1" in said
    assert set(told.runs) == {"set"}


def test_a_pod_of_a_stateful_set_made_again_is_the_next_attempt() -> None:
    told = Told()
    owner = {"kind": "StatefulSet", "name": "db", "uid": "set"}
    old = pod("db-0", uid="old", owner=owner, runs="12:00:05")
    told.put("12:00:06", node(), old)
    told.drop("12:10:00", old)
    said = told.put(
        "12:10:05", pod("db-0", uid="new", made="12:10:01", placed="12:10:02", owner=owner, runs="12:10:04")
    )
    assert said == [
        "db-0 12:10:01 pending 2 8",
        "db-0 12:10:02 starting 2 8@gpu-1",
        "db-0 12:10:04 running 2 8@gpu-1",
    ]


def test_pods_of_a_job_without_indexes_take_free_places() -> None:
    told = Told()
    spec = {"parallelism": 2, "completions": 4, "template": {"spec": {"containers": [wants()]}}}
    batch = {"kind": "Job", "metadata": meta("sweep"), "spec": spec, "status": {}}
    told.put("12:00:00", node(), batch)
    owner = ref(batch)
    first = [pod(f"sweep-{x}", uid=x, owner=owner, runs="12:00:05") for x in "ab"]
    said = told.put("12:00:06", *first)
    assert {line.split()[0] for line in said} == {"pod-0", "pod-1"}, "no barrier"
    failed = pod("sweep-a", uid="a", owner=owner, runs="12:00:05", ended="12:01:00", code=1, phase="Failed")
    assert told.put("12:01:01", failed) == ["pod-0 12:01:00 pending failure 2 8"]
    done = pod("sweep-b", uid="b", owner=owner, runs="12:00:05", ended="12:01:30", phase="Succeeded")
    assert told.put("12:01:31", done) == ["pod-1 12:01:30 ended completed 1"]
    again = pod("sweep-c", uid="c", made="12:01:10", placed="12:01:12", owner=owner, runs="12:01:15")
    more = pod("sweep-d", uid="d", made="12:01:40", placed="12:01:40", owner=owner, runs="12:01:45")
    said = told.put("12:02:00", again, more)
    assert [line for line in said if "running" in line] == [
        "pod-0 12:01:15 running 2 8@gpu-1",
        "pod-2 12:01:45 running 1 8@gpu-1",
    ]


def test_an_elastic_job_begins_with_its_minimum_and_shrinks_without_failure() -> None:
    told = Told()
    llm = job(worker=3)
    llm["spec"]["elasticPolicy"] = {"minReplicas": 2, "maxReplicas": 4}
    pods = [pod(f"llm-worker-{n}", **owned(llm, "worker", n), runs=f"12:00:0{n + 5}") for n in range(2)]
    said = told.put("12:00:09", node(), llm, *pods)
    assert "worker-0 12:00:06 running 1 8@gpu-1" in said, "two of three suffice"
    smaller = {**llm, "spec": job(worker=1)["spec"]}
    going = pod("llm-worker-1", **owned(llm, "worker", 1), runs="12:00:06", deleted="12:05:30", grace=30)
    assert "worker-1 12:05:00 stopping scale_down 1 8@gpu-1" in told.put("12:05:01", smaller, going)
    gone = pod("llm-worker-1", **owned(llm, "worker", 1), runs="12:00:06", ended="12:05:04", code=143, phase="Failed",
               deleted="12:05:30", grace=30)  # fmt: skip
    assert told.put("12:05:05", gone) == ["worker-1 12:05:04 ended scale_down 2"]


def test_a_preempted_workload_waits_in_its_queue_with_its_cause() -> None:
    told = Told()
    llm = job(worker=1)
    queue = {"kind": "Workload", "metadata": meta("w", owner=ref(llm)), "spec": {"active": True}, "status": {}}
    running = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05")
    told.put("12:00:06", node(), llm, queue, running)
    evicted = {**queue, "status": {"conditions": [condition("Evicted", "12:10:00", reason="Preempted")]}}
    held = {**llm, "spec": {**llm["spec"], "runPolicy": {"suspend": True}}}
    dying = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05", deleted="12:10:30", grace=30)
    assert told.put("12:10:01", evicted, held, dying) == ["worker-0 12:10:00 stopping preemption 1 8@gpu-1"]
    dead = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05", ended="12:10:07", code=143, phase="Failed",
               deleted="12:10:30", grace=30)  # fmt: skip
    assert told.drop("12:10:08", dead) == ["worker-0 12:10:07 pending 2 8"], "its stopping said why"


def test_a_job_in_a_queue_waits_from_its_submission() -> None:
    told = Told()
    llm = job(worker=1)
    llm["spec"]["runPolicy"] = {"suspend": True}
    queue = {"kind": "Workload", "metadata": meta("w", owner=ref(llm)), "spec": {"active": True}, "status": {}}
    assert told.put("12:00:01", llm, queue) == ["worker-0 12:00:00 pending 1 8"]
    alone = job("other", worker=1)
    alone["spec"]["runPolicy"] = {"suspend": True}
    assert told.put("12:00:01", alone) == [], "suspended by its owner: it asks for nothing"


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("PreemptionByScheduler", "stopping preemption"),
        ("PreemptionByKubeScheduler", "stopping preemption"),
        ("EvictionByEvictionAPI", "stopping drain"),
        ("DeletionByTaintManager", "stopping drain"),
        ("DeletionByPodGC", "lost node_lost"),
        ("TerminationByKubelet", "stopping failure"),
    ],
)
def test_disruptions(reason: str, said: str) -> None:
    told = Told()
    llm = job(worker=1)
    told.put("12:00:06", node(), llm, pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05"))
    target = condition("DisruptionTarget", "12:10:00", reason=reason)
    hit = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05", conditions=[target])
    assert told.put("12:10:01", hit) == [f"worker-0 12:10:00 {said} 1 8@gpu-1"]


@pytest.mark.parametrize(
    ("reason", "cause"),
    [("Evicted", "failure"), ("NodeShutdown", "drain"), ("Terminated", "drain"), ("Preempting", "preemption")],
)
def test_what_a_kubelet_ends(reason: str, cause: str) -> None:
    told = Told()
    llm = job(worker=1)
    told.put("12:00:06", node(), llm, pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05"))
    ended = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05", ended="12:10:00", code=137, phase="Failed",
                status={"reason": reason, "phase": "Failed"})  # fmt: skip
    assert told.put("12:10:01", ended) == [f"worker-0 12:10:00 pending {cause} 2 8"]


def test_a_deleted_node_loses_its_pods_and_leaves_no_capacity() -> None:
    told = Told()
    llm = job(worker=1)
    machine = node()
    told.put("12:00:06", machine, llm, pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05"))
    assert told.machines["gpu-1"] == {"name": "gpu-1", "pool": "h100", "gpus": 8, "ready": True}
    assert told.drop("12:10:00", machine) == ["worker-0 12:10:00 lost node_lost 1 8@gpu-1"]
    assert told.machines["gpu-1"] == {"name": "gpu-1", "gpus": 0, "ready": False}


def test_a_position_whose_pod_went_unseen_waits_since_its_absence_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "workers.jsonl"
    llm = job(worker=1)
    told = Told(path)
    told.put("12:00:06", node(), llm, pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05"))
    told.mapping.memory.close()
    again = Told(path)
    assert again.put("12:30:00", node(), llm) == ["worker-0 12:30:00 pending 2 8"]
    new = pod("llm-worker-0", uid="new", made="12:31:00", placed="12:31:05", **owned(llm, "worker"), runs="12:31:09")
    assert again.put("12:31:10", new) == [
        "worker-0 12:31:05 starting 2 8@gpu-1",
        "worker-0 12:31:09 running 2 8@gpu-1",
    ]
    again.mapping.memory.close()


def test_an_end_that_was_not_sent_before_a_kill_is_said_again(tmp_path: Path) -> None:
    path = tmp_path / "workers.jsonl"
    llm = job(worker=1)
    running = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05")
    told = Told(path)
    told.put("12:00:06", node(), llm, running)
    told.mapping.drop("PyTorchJob", llm, at("12:10:00"))
    assert told.drop("12:10:03", running) == ["worker-0 12:10:03 ended owner 2"]
    told.mapping.memory.close()
    path.write_text("".join(line for line in path.read_text().splitlines(True) if line != '["uid-llm"]\n'))
    again = Told(path)
    over = {**llm, "status": {"conditions": [condition("Failed", "12:10:00")]}}
    assert again.put("12:10:09", node(), over) == ["worker-0 12:10:03 ended 2"]
    again.mapping.memory.close()


def test_bad_objects_are_said_once_and_left_out() -> None:
    told = Told()
    bad: list[Any] = [
        {"kind": "Pod", "metadata": {"name": "nameless"}},
        {"kind": "Pod", "metadata": None, "spec": 3, "status": []},
        {
            "kind": "PyTorchJob",
            "metadata": meta("odd"),
            "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": "many"}}},
        },
        {
            "kind": "Pod",
            "metadata": meta("odd", labels=7),
            "spec": {"containers": "none"},
            "status": {"conditions": [3]},
        },
        {"kind": "Node", "metadata": meta("odd"), "status": {"capacity": {"nvidia.com/gpu": {"a": 1}}}},
    ]
    for _ in range(2):
        for of in bad:
            told.mapping.put(of["kind"], of, 0)
    told.mapping.changes(1)
    assert len(told.mapping.bad) == 2, told.mapping.bad


def test_every_reason_is_one_of_the_ledgers() -> None:
    from ledger.core.categories import REASONS, Phase

    phases = {phase.label for phase in Phase}
    for _, phase, reason, _ in rules.rows():
        assert phase in phases
        assert reason in (*REASONS, "", "as the job")


def test_the_run_says_its_jobs_conditions_end_and_user() -> None:
    told = Told(user_labels=("team/user",))
    llm = job(worker=1, status={"conditions": [condition("Created", "12:00:00", reason="JobCreated")]})
    llm["metadata"]["labels"] = {"team/user": "ana"}
    running = pod("llm-worker-0", **owned(llm, "worker"), runs="12:00:05")
    told.put("12:00:06", node(), llm, running)
    assert told.runs["uid-llm"] == {
        "uid": "uid-llm", "workspace": "vision", "name": "llm", "kind": "PyTorchJob", "user": "ana",
        "submitted_at": "2026-10-01T12:00:00.000Z",
        "conditions": [{"type": "Created", "status": "True", "reason": "JobCreated", "at": "2026-10-01T12:00:00.000Z"}],
    }  # fmt: skip
    over = {**llm, "status": {"completionTime": stamp("12:20:00"), "conditions": [condition("Succeeded", "12:20:00")]}}
    told.put("12:20:01", over)
    assert (told.runs["uid-llm"]["outcome"], told.runs["uid-llm"]["ended_at"]) == (
        "Succeeded",
        "2026-10-01T12:20:00.000Z",
    )
