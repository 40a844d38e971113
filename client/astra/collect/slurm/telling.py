"""What is told of runs in the words of the interface: items of runs, workers and readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone

from astra.collect.slurm.mapping import Sample, State, Told
from astra.collect.slurm.scontrol import Node

Item = dict[str, object]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
KINDS = {"array": "Slurm array task", "het": "Slurm hetjob", "": "Slurm job"}


def instant_text(at: int) -> str:
    """Return ms as "2026-11-29T15:05:14.000Z"."""
    moment = EPOCH + timedelta(milliseconds=at)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03d}Z"


def moment(at: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at)


def run_item(told: Told, workspaces: Mapping[str, str]) -> Item:
    """Return the item of a run; its account is its workspace unless `workspaces` says another."""
    run, records = told.run, told.run.records()
    first = records[0]
    kind = "het" if None not in run.parts else "array" if "_" in run.name else ""
    item: Item = {"uid": run.uid, "name": first.name or run.name, "kind": KINDS[kind]}
    if first.account:
        item["workspace"] = workspaces.get(first.account, first.account)
    if first.user:
        item["user"] = first.user
    if first.submit is not None:
        item["submitted_at"] = instant_text(first.submit)
    if told.ended is not None:
        item.update(ended_at=instant_text(told.ended), outcome=told.outcome)
    return item


def worker_item(uid: str, state: State) -> Item:
    item: Item = {"run": uid, "worker": state.worker, "at": instant_text(state.at), "phase": state.phase}
    if state.reason:
        item["reason"] = state.reason
    item["attempt"] = state.attempt
    if state.gpus is not None:
        item["gpus"] = thousandths(state.gpus)
    if state.machine:
        item["machine"] = state.machine
    if state.pool:
        item["pool"] = state.pool
    return item


def reading_item(uid: str, sample: Sample) -> Item:
    return {"run": uid, "worker": sample.worker, "at": instant_text(sample.at), "gpu_busy": sample.busy}


def machine_items(nodes: Iterator[Node] | list[Node]) -> Iterator[Item]:
    """Yield the machines that have GPUs."""
    for node in nodes:
        if node.gpus:
            pool = {"pool": node.pool} if node.pool else {}
            yield {"name": node.name, **pool, "gpus": thousandths(node.gpus), "ready": node.ready}


def thousandths(milli: int) -> int | float:
    """Return the JSON number of thousandths: 8000 → 8, 142 → 0.142."""
    return milli // 1000 if milli % 1000 == 0 else milli / 1000
