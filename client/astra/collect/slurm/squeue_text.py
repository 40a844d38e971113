"""`squeue` as text: what older versions print, and the columns that the agent asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from astra.collect.slurm import gpus, hosts, jobnames, tables, values
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.squeue_json import LASTING
from astra.collect.slurm.tables import type_row
from astra.collect.slurm.words import state_of

FIELDS = (
    "JobArrayID", "JobID", "ArrayJobID", "HetJobID", "HetJobOffset", "Name", "UserName", "Account", "Partition",
    "State", "Reason", "NumNodes", "NodeList", "SubmitTime", "EligibleTime", "StartTime", "EndTime", "PreemptTime",
    "RestartCnt", "tres-alloc", "tres", "tres-per-node",
)  # fmt: skip
COLUMNS = tuple(field.upper().replace("-", "_") for field in FIELDS)
FORMAT = ",".join(f"{field}:|#" for field in FIELDS)
NAMES = {
    "START_TIME": "STARTTIME", "END_TIME": "ENDTIME", "SUBMIT_TIME": "SUBMITTIME", "ELIGIBLE_TIME": "ELIGIBLETIME",
    "PREEMPT_TIME": "PREEMPTTIME", "NODES": "NUMNODES", "USER": "USERNAME", "TRES_ALLOCATED": "TRES_ALLOC",
    "RESTARTCOUNT": "RESTARTCNT", "TRESPERNODE": "TRES_PER_NODE",
}  # fmt: skip
TIMES = ("SUBMITTIME", "ELIGIBLETIME", "STARTTIME", "ENDTIME", "PREEMPTTIME")


def read(text: str, zone: tzinfo | None, notes: Counter[str], columns: Sequence[str] = ()) -> Iterator[Record]:
    """Yield the records of a text; `columns` names those of one without a heading."""
    for row in tables.rows(tables.read(text, notes, columns)):
        named = {NAMES.get(name, name): value for name, value in row.items()}
        yield from values.careful(lambda told: _records(told, zone), named, notes)


def _records(row: type_row, zone: tzinfo | None) -> Iterator[Record]:
    name = row.get("JOBARRAYID") or row.get("JOBID", "")
    yield from jobnames.named(_record(row, zone, name), name)


def _record(row: type_row, zone: tzinfo | None, name: str) -> Record:
    state = state_of(row.get("STATE", ""))
    nodes = () if state == "PENDING" else hosts.expand(row.get("NODELIST"))
    width = values.number(row.get("NUMNODES")) or len(nodes)
    told = row.get("TRES_ALLOC") or row.get("TRES") or ""
    total = gpus.of_tres(told) or gpus.of_gres(row.get("TRES_PER_NODE")) * width
    times = {key: values.clock(row.get(key), zone) for key in TIMES}
    return Record(
        job=Job(name),
        number=jobnames.number(row.get("JOBID", ""), name),
        state=state,
        submit=times["SUBMITTIME"],
        eligible=times["ELIGIBLETIME"],
        start=None if state == "PENDING" else times["STARTTIME"],
        end=None if state in LASTING else times["ENDTIME"],
        preempted=times["PREEMPTTIME"],
        nodes=nodes,
        width=width,
        held=gpus.split(total, len(nodes)),
        asked=gpus.of_tres(row.get("TRES")) or total,
        name=row.get("NAME", ""),
        user=row.get("USERNAME", ""),
        account=row.get("ACCOUNT", ""),
        partition=row.get("PARTITION", "").split(",")[0],
        reason=row.get("REASON", ""),
        restarts=values.number(row.get("RESTARTCNT")),
        marks=frozenset((state,)),
    )
