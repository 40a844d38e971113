"""`squeue --json` of Slurm 21.08 to 25.05 as records: what goes on now, and what just ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from astra.collect.slurm import gpus, hosts, values
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.words import state_of

type_json = Mapping[str, Any]
FIRST = ("COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED")  # of several words the one that says what happens


def read(body: type_json, notes: Counter[str]) -> Iterator[Record]:
    """Yield the records of an answer; what cannot be read is counted in `notes` and left out."""
    for job in body.get("jobs") or ():
        yield from values.careful(_records, job, notes)


def _records(job: type_json) -> Iterator[Record]:
    made = _record(job)
    if values.number(job.get("array_task_id")) is not None or not values.text(job.get("array_task_string")):
        yield made
        return
    array = values.number(job.get("array_job_id")) or made.number
    for task in values.tasks(job.get("array_task_string")):
        yield replace(made, job=Job(f"{array}_{task}"))


def _record(job: type_json) -> Record:
    told = [state_of(word) for word in values.words(job.get("job_state"))]
    state = next((word for word in FIRST if word in told), told[0] if told else "")
    waits = state == "PENDING"
    nodes = () if waits else hosts.expand(values.text(job.get("nodes")))
    held = gpus.of_tres(values.text(job.get("tres_alloc_str")))
    on_each = [gpus.of_gres(values.text(each)) for each in job.get("gres_detail") or ()]
    return Record(
        job=job_of(job),
        number=values.number(job.get("job_id")) or 0,
        state=state,
        submit=values.instant(job.get("submit_time")),
        eligible=values.instant(job.get("eligible_time")),
        start=None if waits else values.instant(job.get("start_time")),
        end=values.instant(job.get("end_time")) if state not in LASTING else None,
        nodes=nodes,
        width=values.number(job.get("node_count")) or len(nodes),
        held=gpus.on_nodes(held, on_each, len(nodes)),
        asked=gpus.of_tres(values.text(job.get("tres_req_str"))) or held,
        name=values.text(job.get("name")),
        user=values.text(job.get("user_name")),
        account=values.text(job.get("account")),
        partition=values.text(job.get("partition")).split(",")[0],
        reason=values.text(job.get("state_reason")),
        restarts=values.number(job.get("restart_cnt")),
        preempted=values.instant(job.get("preempt_time")),
        resized=values.instant(job.get("resize_time")),
        switched=values.instant(job.get("suspend_time")),
        marks=frozenset(told),
        cluster=values.text(job.get("cluster")),
    )


LASTING = frozenset({"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"})


def job_of(job: type_json) -> Job:
    """Return which job one of `squeue --json` is."""
    own = values.number(job.get("job_id"))
    if own is None:
        raise ValueError("it has no job_id")
    leader, task = values.number(job.get("het_job_id")), values.number(job.get("array_task_id"))
    if leader:
        return Job(str(leader), values.number(job.get("het_job_offset")) or 0)
    return Job(f"{values.number(job.get('array_job_id')) or own}_{task}") if task is not None else Job(str(own))
