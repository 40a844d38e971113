"""What each thing that is seen becomes: the tables that the mapping decides by and its documentation is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

PENDING, STARTING, RUNNING = "pending", "starting", "running"
STOPPING, FAILED, LOST, ENDED = "stopping", "failed", "lost", "ended"
ORDER = ("", PENDING, STARTING, RUNNING, STOPPING, FAILED, LOST, ENDED)

COMPLETED, OWNER, TIME_LIMIT, SCALE_DOWN = "completed", "owner", "time_limit", "scale_down"
FAILURE, NODE_LOST, PREEMPTION, DRAIN = "failure", "node_lost", "preemption", "drain"


class Rule(NamedTuple):
    """A phase and its reason ("" = none), from an instant that `since` names."""

    phase: str
    reason: str
    seen: str
    since: str


ASKED = Rule(
    PENDING,
    "",
    "a member of a job that has no pod yet, or a pod that has no node",
    "the job was created or resumed; a pod added later: it was created",
)
BOUND = Rule(
    STARTING,
    "",
    "a pod that has a node: pulling, mounting, init containers, image back-off; or it runs while its gang is not whole",
    "condition PodScheduled",
)
WHOLE = Rule(
    RUNNING,
    "",
    "its working containers run, and every member that the job asks for has run at once (elastic: its minimum)",
    "the last of them started",
)
CRASHED = Rule(
    FAILED,
    "",
    "a container that ended with an error in a pod that stays: CrashLoopBackOff and before it",
    "the container's finishedAt",
)
AGAIN = Rule(
    STARTING, "", "the container is created again in the same pod: the next attempt", "the container's startedAt"
)
DONE = Rule(
    STOPPING, COMPLETED, "the working containers ended well and the pod stays for its helpers", "the last finishedAt"
)
UNREACHABLE = Rule(
    LOST,
    NODE_LOST,
    "its node is NotReady, Unknown or deleted; or the pod's phase is Unknown",
    "the node's condition Ready changed",
)
BACK = Rule(RUNNING, "", "its node is back and the same container runs on", "the node's condition Ready changed")
SUCCEEDED = Rule(ENDED, COMPLETED, "the pod Succeeded", "the last container's finishedAt")
RELEASED = Rule(
    PENDING,
    FAILURE,
    "the pod Failed, or is gone, while its job goes on: the wait for the next attempt, with the cause",
    "the last container's finishedAt; without one, its DELETED arrived",
)
OVER = Rule(
    ENDED,
    "",
    "the same once its job is over, deleted or suspended by its owner",
    "the same, or when the job was over if that is later",
)
SMALLER = Rule(ENDED, SCALE_DOWN, "a member that the job no longer asks for", "its pod released its GPUs")
UNDECIDED = Rule(
    STOPPING, "", "a pod that is being deleted and nothing says why", "deletionTimestamp less its grace period"
)

ALWAYS = (ASKED, BOUND, WHOLE, CRASHED, AGAIN, DONE, UNREACHABLE, BACK, SUCCEEDED, RELEASED, OVER, SMALLER, UNDECIDED)

# Condition DisruptionTarget, from its lastTransitionTime. The two that depend on more have a rule of their own below.
DISRUPTIONS = {
    "PreemptionByScheduler": (STOPPING, PREEMPTION),
    "PreemptionByKubeScheduler": (STOPPING, PREEMPTION),
    "EvictionByEvictionAPI": (STOPPING, DRAIN),
    "DeletionByPodGC": (LOST, NODE_LOST),
}
TAINT_MANAGER = "DeletionByTaintManager"
TAINTED_LOST = (LOST, NODE_LOST)  # its node is not ready, unreachable or out of service
TAINTED_DRAIN = (STOPPING, DRAIN)  # any other taint was put there on purpose
KUBELET = "TerminationByKubelet"

# A pod's own status.reason, where it says why it ended.
POD_REASONS = {
    "Evicted": FAILURE,
    "Shutdown": DRAIN,
    "NodeShutdown": DRAIN,
    "Terminated": DRAIN,
    "Preempting": PREEMPTION,
    "DeadlineExceeded": TIME_LIMIT,
    "NodeLost": NODE_LOST,
    "NodeAffinity": FAILURE,
    "UnexpectedAdmissionError": FAILURE,
}

# A Kueue Workload's condition Evicted: why its job's pods are taken down. The job then waits in its queue again.
EVICTIONS = {
    "Preempted": PREEMPTION,
    "PodsReadyTimeout": FAILURE,
    "NodeFailures": NODE_LOST,
    "AdmissionCheck": DRAIN,
    "ClusterQueueStopped": DRAIN,
    "LocalQueueStopped": DRAIN,
    "Deactivated": OWNER,
    "InactiveWorkload": OWNER,
    "MaximumExecutionTimeExceeded": TIME_LIMIT,
}

# Why a pod is being deleted when nothing of the above says it, by what is known of its job; the first that is true.
DELETIONS = {
    "deleted": (OWNER, "its job is gone or is being deleted"),
    "over": ("", "its job is over: completed, failure or time_limit, as the job says"),
    "suspended": (OWNER, "its job is suspended by its owner"),
    "smaller": (SCALE_DOWN, "its job no longer asks for it"),
    "failing": (FAILURE, "its job takes its whole attempt down because a member failed"),
}


def disruption(reason: str, pod_reason: str, *, lost: bool) -> tuple[str, str] | None:
    """Return phase and reason of a DisruptionTarget; `lost`: its node does not answer. None when it is not known."""
    if reason == TAINT_MANAGER:
        return TAINTED_LOST if lost else TAINTED_DRAIN
    if reason == KUBELET:
        return STOPPING, POD_REASONS.get(pod_reason, FAILURE)
    return DISRUPTIONS.get(reason)


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of the documentation's table: what is seen, phase, reason, since when."""
    for rule in ALWAYS:
        yield rule.seen, rule.phase, rule.reason, rule.since
    target = "DisruptionTarget's lastTransitionTime"
    for name, (phase, reason) in DISRUPTIONS.items():
        yield f"DisruptionTarget {name}", phase, reason, target
    yield f"DisruptionTarget {TAINT_MANAGER}, its node not ready or unreachable", *TAINTED_LOST, target
    yield f"DisruptionTarget {TAINT_MANAGER}, any other taint", *TAINTED_DRAIN, target
    for name, reason in POD_REASONS.items():
        yield f"the pod's own reason {name}", STOPPING, reason, f"{target}, else the deletion or the release"
    for name, reason in EVICTIONS.items():
        yield f"Kueue evicts its Workload: {name}", STOPPING, reason, UNDECIDED.since
    for reason, why in DELETIONS.values():
        yield f"a pod that is being deleted: {why}", STOPPING, reason or "as the job", UNDECIDED.since


def table() -> str:
    """Return the table as Markdown."""
    lines = ["| seen | phase | reason | since |", "| --- | --- | --- | --- |"]
    lines += [f"| {seen} | `{phase}` | {reason} | {since} |" for seen, phase, reason, since in rows()]
    return "\n".join(lines) + "\n"
