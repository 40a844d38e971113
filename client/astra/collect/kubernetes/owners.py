"""Whose a pod is: the topmost owner that is read, and the pod's position in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from astra.collect.kubernetes.jobs import JOBSET, Job, position_of
from astra.collect.kubernetes.kubeflow import REPLICAS_KEY
from astra.collect.kubernetes.meta import Meta, Owner
from astra.collect.kubernetes.pods import Pod

TYPE_LABELS = ("training.kubeflow.org/replica-type", "replica-type", "tf-replica-type", "pytorch-replica-type")
INDEX_LABELS = ("training.kubeflow.org/replica-index", "replica-index", "tf-replica-index", "pytorch-replica-index")
ROLE_LABEL = "training.kubeflow.org/job-role"
COMPLETION = "batch.kubernetes.io/job-completion-index"
TASK, TASK_INDEX = "volcano.sh/task-spec", "volcano.sh/task-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
ATTEMPTS = (JOBSET + "restart-attempt", JOBSET + "job-restart-attempt")
JOBSET_NAME, JOBSET_UID = JOBSET + "jobset-name", JOBSET + "jobset-uid"
READ = frozenset({*REPLICAS_KEY, "TrainJob", "JobSet", "Job", "VolcanoJob"})

FindJob = Callable[[str], "Job | None"]
FindTrainJob = Callable[[str, str], "Job | None"]


class Top(NamedTuple):
    """A run: the topmost owner that is read. `job` None: only a reference to it is known."""

    uid: str
    kind: str
    name: str
    namespace: str
    created: int | None
    job: Job | None = None


def top_of_pod(pod: Pod, find: FindJob, find_trainjob: FindTrainJob) -> Top:
    """Return the run of a pod; a pod without an owner is a run of its own."""
    meta, owner = pod.meta, pod.meta.owner
    if owner is None:
        return Top(meta.uid, "Pod", meta.name, meta.namespace, meta.created)
    if find(owner.uid) is None and JOBSET_UID in meta.labels:
        owner = Owner("JobSet", meta.labels.get(JOBSET_NAME, ""), meta.labels[JOBSET_UID])
    return _top(owner, meta, find, find_trainjob)


def top_of_job(job: Job, find: FindJob, find_trainjob: FindTrainJob) -> Top:
    """Return the run that a job is, or is a part of. An owner that is not read is no run."""
    owner = job.meta.owner
    if owner is not None and (owner.kind in READ or find(owner.uid)):
        return _top(owner, job.meta, find, find_trainjob)
    return Top(job.meta.uid, job.kind, job.meta.name, job.meta.namespace, job.meta.created, job)


def _top(owner: Owner, of: Meta, find: FindJob, find_trainjob: FindTrainJob) -> Top:
    job = find(owner.uid)
    if job is not None:
        return top_of_job(job, find, find_trainjob)
    if owner.kind == "JobSet":
        parent = find_trainjob(of.namespace, owner.name)
        if parent is not None:
            return top_of_job(parent, find, find_trainjob)
    return Top(owner.uid, owner.kind, owner.name, of.namespace, None)


def position(pod: Pod, top: Top) -> str | None:
    """Return the name of a pod's position in its run; None when it says none and takes the next free one."""
    labels = {**pod.meta.annotations, **pod.meta.labels}
    kind = next((labels[label] for label in TYPE_LABELS if labels.get(label)), "")
    index = next((labels[label] for label in INDEX_LABELS if labels.get(label)), "")
    if not kind and top.kind in REPLICAS_KEY:
        kind, index = _from_name(pod.meta.name, top.name, labels.get(ROLE_LABEL, ""))
    if kind:
        return f"{kind.lower()}-{index or '0'}"
    if labels.get(COMPLETION, "").isdigit():
        return position_of(labels, int(labels[COMPLETION]))
    if labels.get(TASK):
        return f"{labels[TASK]}-{labels.get(TASK_INDEX) or pod.meta.name.rpartition('-')[2]}"
    if top.kind == "StatefulSet":
        return pod.meta.name
    return "pod-0" if top.kind == "Pod" else None


def _from_name(pod: str, job: str, role: str) -> tuple[str, str]:
    """Return replica type and index of a name like job-worker-3 or job-launcher-x7k2p."""
    rest = pod[len(job) + 1 :] if pod.startswith(f"{job}-") else ""
    kind, _, index = rest.partition("-")
    return kind or role, index if index.isdigit() else ""


def attempts_before(pod: Pod) -> int:
    """Return how many attempts came before a pod, as its labels say: they outlive the pods of those attempts."""
    labels = {**pod.meta.annotations, **pod.meta.labels}
    said = [int(labels[name]) for name in ATTEMPTS if labels.get(name, "").isdigit()]
    failures = labels.get(FAILURES, "")
    return sum(said) + (int(failures) if failures.isdigit() else 0)
