"""Objects in few words, and a mapping that is told of them at instants of "hh:mm:ss"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from astra.collect.items import Item
from astra.collect.kubernetes.mapping import Mapping
from astra.collect.kubernetes.memory import Memory
from astra.collect.kubernetes.raw import ms

DAY = "2026-10-01T"


def at(clock: str) -> int:
    found = ms(f"{DAY}{clock}Z")
    assert found is not None
    return found


def stamp(clock: str) -> str:
    return f"{DAY}{clock}Z"


def meta(
    name: str, uid: str = "", made: str = "12:00:00", owner: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    of = {"name": name, "namespace": "vision", "uid": uid or f"uid-{name}", "creationTimestamp": stamp(made)}
    if owner:
        of["ownerReferences"] = [{"controller": True, **owner}]
    if deleted := more.pop("deleted", None):
        of |= {"deletionTimestamp": stamp(deleted), "deletionGracePeriodSeconds": more.pop("grace", 0)}
    return {**of, **more}


def wants(
    gpus: int | str = 8, resource: str = "nvidia.com/gpu", side: str = "limits", name: str = "main"
) -> dict[str, Any]:
    return {"name": name, "resources": {side: {resource: str(gpus)}}}


def job(
    name: str = "llm", kind: str = "PyTorchJob", status: dict[str, Any] | None = None, **replicas: int
) -> dict[str, Any]:
    """Return a Kubeflow job with so many replicas of each type; `GPUs` of a type in `gpus`."""
    key = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs"}[kind]
    specs = {
        kind_of.capitalize() if kind_of != "ps" else "PS": {
            "replicas": number,
            "template": {"spec": {"containers": [wants()]}},
        }
        for kind_of, number in replicas.items()
    }
    return {"kind": kind, "metadata": meta(name), "spec": {key: specs}, "status": status or {}}


def condition(kind: str, clock: str, status: str = "True", reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": stamp(clock)}


def pod(
    name: str,
    *,
    uid: str = "",
    made: str = "12:00:00",
    owner: dict[str, Any] | None = None,
    node: str = "gpu-1",
    placed: str = "12:00:00",
    runs: str = "",
    ended: str = "",
    code: int = 0,
    restarts: int = 0,
    phase: str = "",
    containers: list[dict[str, Any]] | None = None,
    conditions: list[dict[str, str]] | None = None,
    labels: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a pod with one container that runs since `runs` and ended at `ended`."""
    state: dict[str, Any] = {"waiting": {"reason": "ContainerCreating"}}
    if ended:
        state = {"terminated": {"exitCode": code, "startedAt": stamp(runs), "finishedAt": stamp(ended)}}
    elif runs:
        state = {"running": {"startedAt": stamp(runs)}}
    spec: dict[str, Any] = {"containers": containers or [wants()], **more.pop("spec", {})}
    status: dict[str, Any] = {
        "phase": phase or ("Pending" if not runs else "Running"),
        "conditions": list(conditions or ()),
        "containerStatuses": [{"name": spec["containers"][0]["name"], "restartCount": restarts, "state": state}],
        **more.pop("status", {}),
    }
    if node:
        spec["nodeName"] = node
        status["conditions"].append(condition("PodScheduled", placed))
    return {
        "kind": "Pod",
        "metadata": meta(name, uid, made, owner, labels=labels or {}, **more),
        "spec": spec,
        "status": status,
    }


def owned(by: dict[str, Any], kind: str, index: int = 0) -> dict[str, Any]:
    """Return what makes a pod a replica of a job."""
    labels = {"training.kubeflow.org/replica-type": kind, "training.kubeflow.org/replica-index": str(index)}
    return {"owner": ref(by), "labels": labels}


def ref(by: dict[str, Any]) -> dict[str, Any]:
    return {"kind": by["kind"], "name": by["metadata"]["name"], "uid": by["metadata"]["uid"]}


def node(
    name: str = "gpu-1",
    ready: str = "True",
    since: str = "11:00:00",
    labels: dict[str, str] | None = None,
    **capacity: str,
) -> dict[str, Any]:
    resources = {key.replace("__", "/").replace("_", "."): value for key, value in capacity.items()}
    return {
        "kind": "Node",
        "metadata": {**meta(name, made="10:00:00"), "namespace": "", "labels": {"agentpool": "h100", **(labels or {})}},
        "spec": {},
        "status": {"capacity": resources or {"nvidia.com/gpu": "8"}, "conditions": [condition("Ready", since, ready)]},
    }


class Told:
    """A mapping, and the states that it says as short texts."""

    def __init__(self, memory: Path | None = None, **settings: Any) -> None:
        self.mapping = Mapping(memory=Memory(memory), **settings)
        for kind in ("PyTorchJob", "TFJob", "Job", "JobSet", "TrainJob"):
            self.mapping.synced.add(kind)
        self.machines: dict[str, Item] = {}
        self.runs: dict[str, Item] = {}

    def put(self, clock: str, *objects: dict[str, Any]) -> list[str]:
        for of in objects:
            self.mapping.put(of["kind"], of, at(clock))
        return self.changes(clock)

    def drop(self, clock: str, of: dict[str, Any]) -> list[str]:
        self.mapping.drop(of["kind"], of, at(clock))
        return self.changes(clock)

    def changes(self, clock: str) -> list[str]:
        said = self.mapping.changes(at(clock))
        assert not self.mapping.bad, self.mapping.bad
        self.machines |= {str(one["name"]): one for one in said.machines}
        self.runs |= {str(one["uid"]): one for one in said.runs}
        assert {state["run"] for state in said.workers} <= {one["uid"] for one in said.runs}
        return [text(state) for state in said.workers]


def text(state: Item) -> str:
    """Return a state like "worker-0 12:00:05 running 2 8@gpu-1": phase, reason, attempt, GPUs and machine."""
    parts = [state["worker"], str(state["at"])[11:19], state["phase"], state.get("reason"), state["attempt"]]
    where = f"{state['gpus']}@{state['machine']}" if "machine" in state else state.get("gpus")
    return " ".join(str(part) for part in (*parts, where) if part is not None)
