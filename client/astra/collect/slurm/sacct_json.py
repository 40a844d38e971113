"""`sacct --json` of Slurm 21.08 to 25.05 as records. What a version does not tell stays untold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from astra.collect.slurm import gpus, hosts, values
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.words import state_of

type_json = Mapping[str, Any]


def read(body: type_json, notes: Counter[str]) -> Iterator[Record]:
    """Yield the records of an answer; what cannot be read is counted in `notes` and left out."""
    for job in body.get("jobs") or ():
        yield from values.careful(_records, job, notes)


def _records(job: type_json) -> Iterator[Record]:
    made = _record(job)
    array = job.get("array") or {}
    if values.number(array.get("task_id")) is not None or not values.text(array.get("task")):
        yield made
        return
    for task in values.tasks(array.get("task")):
        yield replace(made, job=Job(f"{values.number(array.get('job_id')) or made.number}_{task}"))


def _record(job: type_json) -> Record:
    time, tres = job.get("time") or {}, job.get("tres") or {}
    nodes = hosts.expand(values.text(job.get("nodes")))
    asked, held = gpus.of_list(tres.get("requested") or ()), gpus.of_list(tres.get("allocated") or ())
    told = [state_of(word) for word in values.words(job.get("state"))]
    steps = job.get("steps")
    return Record(
        job=job_of(job),
        number=values.number(job.get("job_id")) or 0,
        state=told[0] if told else "",
        submit=values.instant(time.get("submission")),
        eligible=values.instant(time.get("eligible")),
        start=values.instant(time.get("start")),
        end=values.instant(time.get("end")),
        elapsed=values.number(time.get("elapsed")),
        suspended=values.number(time.get("suspended")),
        nodes=nodes,
        width=values.number(job.get("allocation_nodes")) or len(nodes),
        held=gpus.split(held, len(nodes)),
        asked=asked or held,
        name=values.text(job.get("name")),
        user=values.text(job.get("user")) or values.text((job.get("association") or {}).get("user")),
        account=values.text(job.get("account")),
        partition=values.text(job.get("partition")).split(",")[0],
        reason=values.text((job.get("state") or {}).get("reason")) if isinstance(job.get("state"), dict) else "",
        step=_first_step(steps or ()),
        steps=len(steps) if isinstance(steps, list) else None,
        restarts=values.number(job.get("restart_cnt")),
        marks=frozenset(told),
        cluster=values.text(job.get("cluster")),
    )


def job_of(job: type_json) -> Job:
    """Return which job a record of `sacct --json` is of."""
    own = values.number(job.get("job_id"))
    if own is None:
        raise ValueError("it has no job_id")
    array, het = job.get("array") or {}, job.get("het") or {}
    task, leader = values.number(array.get("task_id")), values.number(het.get("job_id"))
    if leader:
        offset = values.number(het.get("job_offset"))
        return Job(str(leader), own - leader if offset is None else offset)
    return Job(f"{values.number(array.get('job_id')) or own}_{task}") if task is not None else Job(str(own))


def _first_step(steps: Iterable[type_json]) -> int | None:
    began = [
        values.instant((step.get("time") or {}).get("start"))
        for step in steps
        if values.is_numbered_step((step.get("step") or {}).get("id"))
    ]
    return min((at for at in began if at is not None), default=None)
