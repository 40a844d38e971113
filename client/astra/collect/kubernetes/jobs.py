"""What the mapping needs to know of a job, whatever its kind: whom it asks for, and how it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from astra.collect.kubernetes import gpus, raw
from astra.collect.kubernetes.gpus import Demand
from astra.collect.kubernetes.kubeflow import (
    REPLICAS_KEY,
    JobCondition,
    JobStatus,
    KubeflowSpec,
    conditions_of,
    spec_of,
    status_of,
)
from astra.collect.kubernetes.meta import Meta, meta_of
from astra.collect.kubernetes.raw import Raw

COMPLETED, FAILURE, TIME_LIMIT, OWNER = "completed", "failure", "time_limit", "owner"
DEADLINE_WORDS = ("deadlineexceeded", "longer than specified deadline")
OUTCOMES = {COMPLETED: "Succeeded", FAILURE: "Failed", TIME_LIMIT: "Time limit", OWNER: "Deleted"}
BESIDE_THE_GANG = frozenset({"evaluator"})

JOBSET = "jobset.sigs.k8s.io/"
GROUP_LABEL = JOBSET + "replicatedjob-name"
JOB_INDEX_LABEL = JOBSET + "job-index"


class Member(NamedTuple):
    """A position of a gang: the devices it asks for, and where (its node selector)."""

    demand: Demand
    selector: tuple[tuple[str, str], ...] = ()
    in_gang: bool = True


class End(NamedTuple):
    """When a job was over, and how: completed, failure or time_limit."""

    at: int
    reason: str


@dataclass(frozen=True)
class Job:
    """A job of any kind that is read; instants in UTC ms.

    `members` are the positions it asks for by name; None when its own children say them. `least`: how many suffice.
    `numbered`: its pods say their positions; else each takes the next free one. `stopping`: its attempt is being
    taken down for this reason. `suspended`: since when, as its own spec asks; `resumed`: since when no more.
    """

    kind: str
    meta: Meta
    members: Mapping[str, Member] | None
    least: int | None = None
    gang: bool = True
    numbered: bool = True
    end: End | None = None
    stopping: str = ""
    suspended: int | None = None
    resumed: int | None = None
    conditions: tuple[JobCondition, ...] = ()
    restarts: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> int:
        """Since when it asks for its members."""
        return self.meta.created if self.resumed is None else max(self.resumed, self.meta.created)


def job_of(kind: str, of: Raw, more: frozenset[str] = frozenset()) -> Job:
    """Return a job of one of the kinds that are read. Raises BadObject."""
    meta = meta_of(of)
    if kind in REPLICAS_KEY:
        return _kubeflow(kind, meta, of, more)
    return {"Job": _batch, "JobSet": _jobset, "TrainJob": _trainjob, "VolcanoJob": _volcano}[kind](meta, of, more)


def _kubeflow(kind: str, meta: Meta, of: Raw, more: frozenset[str]) -> Job:
    spec, status = spec_of(kind, raw.mapping(of, "spec")), status_of(raw.mapping(of, "status"))
    suspended, resumed = _suspension(status.conditions, asked=spec.run_policy.suspend, created=meta.created)
    return Job(
        kind,
        meta,
        kubeflow_members(spec, more),
        least=_least(spec),
        end=_kubeflow_end(spec, status),
        stopping=FAILURE if status.condition("Restarting") else "",
        suspended=suspended,
        resumed=resumed,
        conditions=status.conditions,
    )


def kubeflow_members(spec: KubeflowSpec, more: frozenset[str] = frozenset()) -> dict[str, Member]:
    """Return the positions by replica type and index, like worker-3; a launcher alone is launcher-0."""
    members: dict[str, Member] = {}
    for name, replica in spec.replica_specs.items():
        kind = name.lower()
        member = member_of(replica.pod, more)._replace(in_gang=kind not in BESIDE_THE_GANG)
        members |= {f"{kind}-{index}": member for index in range(replica.replicas)}
    return members


def member_of(pod: Raw, more: frozenset[str]) -> Member:
    return Member(gpus.demand_of(pod, more), tuple(sorted(raw.texts(pod, "nodeSelector").items())))


def _least(spec: KubeflowSpec) -> int | None:
    """An elastic job's minimum is of its workers; its other members are needed too."""
    if spec.least is None:
        return None
    others = sum(
        one.replicas for name, one in spec.replica_specs.items() if name.lower() not in ("worker", "evaluator")
    )
    return spec.least + others


def _kubeflow_end(spec: KubeflowSpec, status: JobStatus) -> End | None:
    for kind, reason in (("Succeeded", COMPLETED), ("Failed", FAILURE)):
        if found := status.condition(kind):
            at = found.at if status.completion_time is None else status.completion_time
            if at is None:
                return None
            limit = spec.run_policy.active_deadline_seconds
            late = limit is not None and status.start_time is not None and at - status.start_time >= 1000 * limit
            return End(at, TIME_LIMIT if reason == FAILURE and (late or _is_deadline(found)) else reason)
    return None


def _is_deadline(condition: JobCondition) -> bool:
    said = f"{condition.reason} {condition.message}".lower()
    return any(words in said for words in DEADLINE_WORDS)


def _suspension(conditions: tuple[JobCondition, ...], *, asked: bool, created: int) -> tuple[int | None, int | None]:
    """Return since when a job is suspended and since when it is resumed, each None when it is not."""
    said = next((c for c in reversed(conditions) if c.type == "Suspended"), None)
    if asked:
        return (said.at if said and said.holds and said.at is not None else created), None
    return None, (said.at if said and not said.holds else None)


def _condition_end(conditions: tuple[JobCondition, ...], completed: tuple[str, ...], status: Raw) -> End | None:
    for condition in conditions:
        if condition.holds and condition.type in (*completed, "Failed"):
            at = raw.instant(status, "completionTime") or condition.at
            if at is not None:
                failed = TIME_LIMIT if _is_deadline(condition) else FAILURE
                return End(at, COMPLETED if condition.type in completed else failed)
    return None


def _batch(meta: Meta, of: Raw, more: frozenset[str]) -> Job:
    """An indexed Job is a gang of its indexes; one without indexes is as many pods as may go on at once."""
    spec, status = raw.mapping(of, "spec"), raw.mapping(of, "status")
    conditions = conditions_of(status)
    numbered = raw.text(spec, "completionMode") == "Indexed"
    suspended, resumed = _suspension(conditions, asked=raw.at(spec, "suspend") is True, created=meta.created)
    target = next((c for c in conditions if c.holds and c.type in ("FailureTarget", "SuccessCriteriaMet")), None)
    stopping = ""
    if target:
        stopping = COMPLETED if target.type == "SuccessCriteriaMet" else FAILURE
        stopping = TIME_LIMIT if _is_deadline(target) else stopping
    return Job(
        "Job",
        meta,
        batch_members(meta, spec, more),
        gang=numbered,
        numbered=numbered,
        end=_target_end(target, stopping) or _condition_end(conditions, ("Complete",), status),
        stopping=stopping,
        suspended=suspended,
        resumed=resumed,
        conditions=conditions,
        labels=meta.labels,
    )


def _target_end(target: JobCondition | None, reason: str) -> End | None:
    """A Job that has met its target, or failed, is over: it only waits for its pods to go."""
    return None if target is None or target.at is None else End(target.at, reason)


def batch_members(meta: Meta, spec: Raw, more: frozenset[str] = frozenset()) -> dict[str, Member]:
    at_once = raw.count(spec, "parallelism")
    whole = raw.count(spec, "completions")
    number = min(1 if at_once is None else at_once, 2**31 if whole is None else whole)
    member = member_of(raw.mapping(spec, "template", "spec"), more)
    return {
        position_of(meta.labels, index, numbered=raw.text(spec, "completionMode") == "Indexed"): member
        for index in range(number)
    }


def position_of(labels: Mapping[str, str], index: int, *, numbered: bool = True) -> str:
    """Return the name of a Job's position: by its group and its Job in a JobSet, else by the index alone."""
    if group := labels.get(GROUP_LABEL):
        return f"{group}-{labels.get(JOB_INDEX_LABEL, '0')}-{index}"
    return f"{'index' if numbered else 'pod'}-{index}"


def _jobset(meta: Meta, of: Raw, more: frozenset[str]) -> Job:
    spec, status = raw.mapping(of, "spec"), raw.mapping(of, "status")
    conditions, members = conditions_of(status), dict[str, Member]()
    for group in raw.items(spec, "replicatedJobs"):
        inner = raw.mapping(group, "template", "spec")
        for number in range(raw.count(group, "replicas") or 1):
            labels = {GROUP_LABEL: raw.text(group, "name"), JOB_INDEX_LABEL: str(number)}
            members |= batch_members(_labelled(meta, labels), inner, more)
    suspended, resumed = _suspension(conditions, asked=raw.at(spec, "suspend") is True, created=meta.created)
    return Job(
        "JobSet",
        meta,
        members,
        end=_condition_end(conditions, ("Completed",), status),
        suspended=suspended,
        resumed=resumed,
        conditions=conditions,
        restarts=raw.count(status, "restarts") or 0,
    )


def _labelled(meta: Meta, labels: dict[str, str]) -> Meta:
    return Meta(meta.uid, meta.name, meta.namespace, "", meta.created, None, None, labels, {})


def _trainjob(meta: Meta, of: Raw, more: frozenset[str]) -> Job:
    """Its own words stand until its Jobs are there: so many nodes with these resources."""
    spec, status = raw.mapping(of, "spec"), raw.mapping(of, "status")
    conditions = conditions_of(status)
    trainer = raw.mapping(spec, "trainer")
    pod = {"containers": [{"resources": trainer.get("resourcesPerNode")}]}
    nodes = raw.count(trainer, "numNodes") if "resourcesPerNode" in trainer else 0
    suspended, resumed = _suspension(conditions, asked=raw.at(spec, "suspend") is True, created=meta.created)
    return Job(
        "TrainJob",
        meta,
        {f"node-0-{index}": member_of(pod, more) for index in range(1 if nodes is None else nodes)},
        end=_condition_end(conditions, ("Complete",), status),
        suspended=suspended,
        resumed=resumed,
        conditions=conditions,
    )


VOLCANO_ENDS = {"Completed": COMPLETED, "Failed": FAILURE, "Aborted": OWNER, "Terminated": OWNER}
VOLCANO_STOPS = {"Restarting": FAILURE, "Aborting": OWNER, "Terminating": FAILURE, "Completing": COMPLETED}


def _volcano(meta: Meta, of: Raw, more: frozenset[str]) -> Job:
    spec, status = raw.mapping(of, "spec"), raw.mapping(of, "status")
    phase, at = raw.text(status, "state", "phase"), raw.instant(status, "state", "lastTransitionTime")
    members: dict[str, Member] = {}
    for task in raw.items(spec, "tasks"):
        member = member_of(raw.mapping(task, "template", "spec"), more)
        number = raw.count(task, "replicas")
        members |= {f"{raw.text(task, 'name')}-{index}": member for index in range(1 if number is None else number)}
    reason = VOLCANO_ENDS.get(phase)
    return Job(
        "VolcanoJob",
        meta,
        members,
        least=raw.count(spec, "minAvailable") or raw.count(status, "minAvailable"),
        end=None if reason is None or at is None else End(at, reason),
        stopping=VOLCANO_STOPS.get(phase, ""),
        conditions=conditions_of(status),
        restarts=raw.count(status, "retryCount") or 0,
    )
