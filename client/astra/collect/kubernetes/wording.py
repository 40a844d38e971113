"""Machines, runs and states in the words of the interface."""

from __future__ import annotations

from astra.collect.items import Item
from astra.collect.kubernetes import rules
from astra.collect.kubernetes.context import Context
from astra.collect.kubernetes.jobs import OUTCOMES
from astra.collect.kubernetes.kubeflow import JobCondition
from astra.collect.kubernetes.nodes import Node
from astra.collect.kubernetes.raw import iso
from astra.collect.kubernetes.states import State

CONDITIONS_MAX = 32
MESSAGE_CHARACTERS_MAX = 1_000


def gpus_of(milli: int) -> int | float:
    return milli / 1000 if milli % 1000 else milli // 1000


def machine_item(node: Node) -> Item:
    """A node's capacity is left out when it is not known."""
    item: Item = {"name": node.meta.name}
    if node.pool:
        item["pool"] = node.pool
    if node.milli is not None:
        item["gpus"] = gpus_of(node.milli)
    if node.ready is not None:
        item["ready"] = node.ready
    return item


def state_item(run: str, worker: str, state: State) -> Item:
    item: Item = {"run": run, "worker": worker, "at": iso(state.at), "phase": state.phase, "attempt": state.attempt}
    if state.reason:
        item["reason"] = state.reason
    if state.phase == rules.ENDED:
        return item
    item["gpus"] = gpus_of(state.milli)
    if state.machine:
        item["machine"] = state.machine
    if state.pool:
        item["pool"] = state.pool
    return item


def run_item(context: Context, workspace: str, user: str, profile: str = "") -> Item:
    """Return a run's labels: its name, kind, user, log profile, times, outcome and its job's conditions."""
    top, job = context.top, context.job
    item: Item = {"uid": top.uid, "workspace": workspace, "name": top.name, "kind": kind_of(top.kind)}
    if user:
        item["user"] = user
    if profile:
        item["log_profile"] = profile
    if top.created is not None:
        item["submitted_at"] = iso(top.created)
    over = context.over("") if job is None or not context.asks() else None
    if (
        over is not None
        and over.reason in OUTCOMES
        and not (job and job.suspended is not None and job.end is None and not context.is_deleted)
    ):
        if over.at is not None:
            item["ended_at"] = iso(over.at)
        item["outcome"] = OUTCOMES[over.reason]
    if job is not None and job.conditions:
        item["conditions"] = [condition_item(condition) for condition in job.conditions[-CONDITIONS_MAX:]]
    return item


def kind_of(kind: str) -> str:
    return "Job" if kind == "VolcanoJob" else kind


def condition_item(condition: JobCondition) -> Item:
    item: Item = {"type": condition.type, "status": condition.status}
    if condition.reason:
        item["reason"] = condition.reason
    if condition.message:
        item["message"] = condition.message[:MESSAGE_CHARACTERS_MAX]
    if condition.at is not None:
        item["at"] = iso(condition.at)
    return item
