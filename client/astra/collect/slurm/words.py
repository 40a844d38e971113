"""What Slurm's words mean for the ledger: the tables by which the mapping goes, and which the docs print."""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """`phase` while the state lasts; `reason`: why it ended; `again`: cause of the wait when it is queued again."""

    phase: str
    reason: str = ""
    again: str = ""
    note: str = ""


STATES: dict[str, Meaning] = {
    "PENDING": Meaning("pending", note="from Eligible on; what is not eligible does not wait"),
    "CONFIGURING": Meaning("starting", note="its nodes boot"),
    "RUNNING": Meaning("running", note="`starting` while the reason is Prolog, until the first numbered step"),
    "SUSPENDED": Meaning("running", note="holds its GPUs, idle"),
    "STOPPED": Meaning("running", note="holds its GPUs, idle"),
    "SIGNALING": Meaning("running"),
    "STAGE_OUT": Meaning("running"),
    "COMPLETING": Meaning("stopping", note="released at End: Slurm counts nothing after it"),
    "COMPLETED": Meaning("ended", "completed", "owner"),
    "CANCELLED": Meaning("ended", "owner", "owner"),
    "TIMEOUT": Meaning("ended", "time_limit", "time_limit"),
    "DEADLINE": Meaning("ended", "time_limit", "time_limit"),
    "REVOKED": Meaning("ended", "owner", "owner", "a sibling of a federation took it"),
    "FAILED": Meaning("ended", "failure", "failure"),
    "OUT_OF_MEMORY": Meaning("ended", "failure", "failure"),
    "BOOT_FAIL": Meaning("ended", "failure", "failure"),
    "LAUNCH_FAILED": Meaning("ended", "failure", "failure"),
    "RECONFIG_FAIL": Meaning("ended", "failure", "failure"),
    "SPECIAL_EXIT": Meaning("ended", "failure", "failure"),
    "NODE_FAIL": Meaning("ended", "node_lost", "node_lost", "`lost` before it, from when its node was last heard"),
    "PREEMPTED": Meaning("ended", "preemption", "preemption", "`stopping` before it, from `preempt_time`"),
    "REQUEUED": Meaning("pending", "owner", "owner", "the next attempt; a failure when its prolog failed"),
    "REQUEUE_HOLD": Meaning("pending", "owner", "owner"),
    "REQUEUE_FED": Meaning("pending", "owner", "owner"),
    "RESIZING": Meaning("running", "scale_down", "", "the next attempt, without a wait"),
}

GOES_ON = frozenset({"REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING"})
REQUEUED_BY_SLURM = frozenset({"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "SPECIAL_EXIT"})
ALIVE = frozenset({"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "COMPLETING"})
PAUSED = frozenset({"SUSPENDED", "STOPPED"})

ABBREVIATIONS = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING",
    "DL": "DEADLINE", "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED",
    "R": "RUNNING", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED",
    "SE": "SPECIAL_EXIT", "SI": "SIGNALING", "SO": "STAGE_OUT", "ST": "STOPPED", "S": "SUSPENDED", "TO": "TIMEOUT",
}  # fmt: skip

HELD_BACK = (
    "BeginTime", "Dependency", "DependencyNeverSatisfied", "JobArrayTaskLimit", "JobHeldAdmin", "JobHeldUser",
    "job requeued in held state", "launch failed requeued held", "DeadLine", "RequeueHold", "JobLaunchFailureHold",
)  # fmt: skip
PROLOG = "Prolog"


def state_of(text: str) -> str:
    """Return the state of "CANCELLED by 1006", "R", "cancelled+"; an unknown word as it is, in capitals."""
    words = text.replace("+", " ").split()
    word = words[0].upper() if words else ""
    if word in STATES:
        return word
    if word in ABBREVIATIONS:
        return ABBREVIATIONS[word]
    longer = [state for state in STATES if len(word) >= 5 and state.startswith(word)]
    return longer[0] if len(longer) == 1 else word


def is_held_back(reason: str) -> bool:
    """Whether a job that waits for this reason is not asking for GPUs yet."""
    return reason.split(",", maxsplit=1)[0] in HELD_BACK
