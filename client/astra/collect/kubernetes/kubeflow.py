"""The jobs of Kubeflow v1, typed after the published API: their status, what all their specs share, a spec a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from astra.collect.kubernetes import raw
from astra.collect.kubernetes.raw import Raw

CREATED, RUNNING, RESTARTING = "Created", "Running", "Restarting"
SUCCEEDED, FAILED, SUSPENDED = "Succeeded", "Failed", "Suspended"
LAST_FIRST = (SUCCEEDED, FAILED, SUSPENDED, RESTARTING, RUNNING, CREATED)


@dataclass(frozen=True)
class JobCondition:
    """What was once true of a job, and whether it still is: it counts only while `status` is "True"."""

    type: str
    status: str
    reason: str
    message: str
    last_update_time: int | None
    last_transition_time: int | None

    @property
    def holds(self) -> bool:
        return self.status == "True"

    @property
    def at(self) -> int | None:
        """When it became what it is."""
        return self.last_transition_time if self.last_transition_time is not None else self.last_update_time


@dataclass(frozen=True)
class ReplicaStatus:
    """How many pods of a replica type are active, have succeeded and have failed."""

    active: int
    succeeded: int
    failed: int


@dataclass(frozen=True)
class JobStatus:
    """A job's status; instants in UTC ms."""

    conditions: tuple[JobCondition, ...]
    replica_statuses: Mapping[str, ReplicaStatus]
    start_time: int | None
    completion_time: int | None
    last_reconcile_time: int | None

    def condition(self, kind: str) -> JobCondition | None:
        """Return the condition of a type while it holds."""
        return next((c for c in reversed(self.conditions) if c.type == kind and c.holds), None)

    @property
    def state(self) -> str:
        """Return the type of the condition that says where the job is, "" before there is one."""
        return next((kind for kind in LAST_FIRST if self.condition(kind)), "")


@dataclass(frozen=True)
class SchedulingPolicy:
    """How a gang is to be placed: at least so many at once, from which queue, with which priority."""

    min_available: int | None
    queue: str
    priority_class: str


@dataclass(frozen=True)
class RunPolicy:
    """What becomes of a job's pods and of the job, and when."""

    clean_pod_policy: str
    ttl_seconds_after_finished: int | None
    active_deadline_seconds: int | None
    backoff_limit: int | None
    scheduling_policy: SchedulingPolicy | None
    suspend: bool


@dataclass(frozen=True)
class ReplicaSpec:
    """The pods of one replica type: how many, from which template, restarted when."""

    replicas: int
    restart_policy: str
    pod: Raw


@dataclass(frozen=True)
class KubeflowSpec:
    """What the specs of all kinds have; `replica_specs` by the type's name as the job writes it."""

    run_policy: RunPolicy
    replica_specs: Mapping[str, ReplicaSpec]

    @property
    def least(self) -> int | None:
        """Return how many workers suffice when the job is elastic, None when it is not."""
        return None


@dataclass(frozen=True)
class PyTorchJobSpec(KubeflowSpec):
    """`min_replicas` and `max_replicas` of its elastic policy; `nproc_per_node` as written."""

    min_replicas: int | None = None
    max_replicas: int | None = None
    nproc_per_node: str = ""

    @property
    def least(self) -> int | None:
        return self.min_replicas


@dataclass(frozen=True)
class TFJobSpec(KubeflowSpec):
    """`success_policy` is "" (the chief decides) or AllWorkers."""

    success_policy: str = ""
    enable_dynamic_worker: bool = False


@dataclass(frozen=True)
class MPIJobSpec(KubeflowSpec):
    """`slots_per_worker` processes on each worker."""

    slots_per_worker: int | None = None
    main_container: str = ""


@dataclass(frozen=True)
class MXJobSpec(KubeflowSpec):
    """`job_mode` is MXTrain or MXTune."""

    job_mode: str = ""


@dataclass(frozen=True)
class PaddleJobSpec(KubeflowSpec):
    """`min_replicas` and `max_replicas` of its elastic policy."""

    min_replicas: int | None = None
    max_replicas: int | None = None

    @property
    def least(self) -> int | None:
        return self.min_replicas


@dataclass(frozen=True)
class XGBoostJobSpec(KubeflowSpec):
    """Nothing of its own."""


@dataclass(frozen=True)
class JAXJobSpec(KubeflowSpec):
    """Nothing of its own."""


REPLICAS_KEY = {
    "PyTorchJob": "pytorchReplicaSpecs",
    "TFJob": "tfReplicaSpecs",
    "MPIJob": "mpiReplicaSpecs",
    "MXJob": "mxReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
}


def spec_of(kind: str, spec: Raw) -> KubeflowSpec:
    """Return the typed spec of one of the seven kinds."""
    policy = _run_policy(spec)
    replicas = {name: _replica(one) for name, one in raw.mapping(spec, REPLICAS_KEY[kind]).items()}
    least, most = raw.count(spec, "elasticPolicy", "minReplicas"), raw.count(spec, "elasticPolicy", "maxReplicas")
    if kind == "PyTorchJob":
        return PyTorchJobSpec(policy, replicas, least, most, str(raw.at(spec, "nprocPerNode") or ""))
    if kind == "PaddleJob":
        return PaddleJobSpec(policy, replicas, least, most)
    if kind == "TFJob":
        return TFJobSpec(policy, replicas, raw.text(spec, "successPolicy"), raw.at(spec, "enableDynamicWorker") is True)
    if kind == "MPIJob":
        return MPIJobSpec(policy, replicas, raw.count(spec, "slotsPerWorker"), raw.text(spec, "mainContainer"))
    if kind == "MXJob":
        return MXJobSpec(policy, replicas, raw.text(spec, "jobMode"))
    return XGBoostJobSpec(policy, replicas) if kind == "XGBoostJob" else JAXJobSpec(policy, replicas)


def _run_policy(spec: Raw) -> RunPolicy:
    """Older jobs have the policy's fields in the spec itself."""
    policy = {**{k: v for k, v in spec.items() if k in _POLICY_KEYS}, **raw.mapping(spec, "runPolicy")}
    scheduling = raw.mapping(policy, "schedulingPolicy")
    return RunPolicy(
        raw.text(policy, "cleanPodPolicy"),
        raw.count(policy, "ttlSecondsAfterFinished"),
        raw.count(policy, "activeDeadlineSeconds"),
        raw.count(policy, "backoffLimit"),
        SchedulingPolicy(
            raw.count(scheduling, "minAvailable"), raw.text(scheduling, "queue"), raw.text(scheduling, "priorityClass")
        )
        if scheduling
        else None,
        raw.at(policy, "suspend") is True,
    )


_POLICY_KEYS = ("cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")


def _replica(one: object) -> ReplicaSpec:
    found = raw.count(one, "replicas")
    return ReplicaSpec(
        1 if found is None else found, raw.text(one, "restartPolicy"), raw.mapping(one, "template", "spec")
    )


def status_of(status: Raw) -> JobStatus:
    """Return the typed status, empty when the job was not looked at by its controller yet."""
    return JobStatus(
        conditions_of(status),
        {
            name: ReplicaStatus(*(raw.count(one, key) or 0 for key in ("active", "succeeded", "failed")))
            for name, one in raw.mapping(status, "replicaStatuses").items()
        },
        raw.instant(status, "startTime"),
        raw.instant(status, "completionTime"),
        raw.instant(status, "lastReconcileTime"),
    )


def conditions_of(status: Raw) -> tuple[JobCondition, ...]:
    """Return the conditions of any kind of job; Volcano's have only a phase, which holds until the next."""
    return tuple(
        JobCondition(
            raw.text(one, "type") or raw.text(one, "status"),
            raw.text(one, "status") if raw.text(one, "type") else "True",
            raw.text(one, "reason"),
            raw.text(one, "message"),
            raw.instant(one, "lastUpdateTime"),
            raw.instant(one, "lastTransitionTime"),
        )
        for one in raw.items(status, "conditions")
    )
