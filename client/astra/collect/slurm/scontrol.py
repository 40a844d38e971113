"""`scontrol show`: nodes (`-o show node`) as machines, and jobs (`-d show job`) with the GPUs of each node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo
from typing import NamedTuple

from astra.collect.slurm import gpus, hosts, values
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.squeue_json import LASTING
from astra.collect.slurm.words import state_of

PAIR = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z_:/&]*)=")
UNREADY = ("DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "MAINT", "INVAL", "UNKNOWN", "FUTURE", "BLOCKED")
UNREADY_MARKS = ("*", "$", "#", "~", "%", "!")  # not responding, maintenance, powering up, powered down …


class Node(NamedTuple):
    """A machine: `pool` its first partition, `answers` whether its daemon does, `why` what an operator wrote."""

    name: str
    pool: str
    gpus: int
    ready: bool
    answers: bool
    why: str


def pairs(block: str) -> dict[str, str]:
    """Return the Key=Value pairs of one object; a value may hold blanks. Of a key that comes twice the first."""
    found = list(PAIR.finditer(block))
    ends = [match.start() for match in found[1:]] + [len(block)]
    return {match[1]: block[match.end() : end].strip() for match, end in reversed(list(zip(found, ends)))}


def nodes(text: str) -> Iterator[Node]:
    """Yield the nodes of `scontrol -o show node`, one a line."""
    for line in text.splitlines():
        told = pairs(line)
        if "NodeName" not in told:
            continue
        words = re.split(r"[+\s]", told.get("State", "").upper())
        bare = [word.rstrip("*$#~%!@^-+") for word in words]
        marks = "".join(words)
        yield Node(
            name=told["NodeName"],
            pool=told.get("Partitions", "").split(",")[0],
            gpus=gpus.of_tres(told.get("CfgTRES")) or gpus.of_gres(told.get("Gres")),
            ready=not set(bare) & set(UNREADY) and "NOT_RESPONDING" not in bare and not set(marks) & set(UNREADY_MARKS),
            answers="*" not in marks and "NOT_RESPONDING" not in bare,
            why=told.get("Reason", ""),
        )


def jobs(text: str, zone: tzinfo | None, notes: Counter[str]) -> Iterator[Record]:
    """Yield the jobs of `scontrol -d show job`; what cannot be read is counted in `notes`."""
    for block in re.split(r"\n(?=JobId=)", text):
        if block.lstrip().startswith("JobId="):
            try:
                yield _job(block, zone)
            except (KeyError, ValueError) as error:
                notes[f"job that cannot be read, left out ({error})"] += 1


def _job(block: str, zone: tzinfo | None) -> Record:
    told = pairs(block)
    state = state_of(told["JobState"])
    names = () if state == "PENDING" else hosts.expand(told.get("NodeList"))
    total = gpus.of_tres(told.get("AllocTRES") or told.get("TRES")) or gpus.of_gres(told.get("JOB_GRES"))
    times = {key: values.clock(told.get(key), zone) for key in TIMES}
    return Record(
        job=_which(told),
        number=int(told["JobId"]),
        state=state,
        submit=times["SubmitTime"],
        eligible=times["EligibleTime"],
        start=None if state == "PENDING" else times["StartTime"],
        end=None if state in LASTING else times["EndTime"],
        preempted=times["PreemptTime"],
        resized=times["ResizeTime"],
        switched=times["SuspendTime"],
        nodes=names,
        width=values.number(told.get("NumNodes", "").split("-")[0]) or len(names),
        held=gpus.on_nodes(total, _each(block, names), len(names)),
        asked=gpus.of_tres(told.get("ReqTRES") or told.get("TRES")) or total,
        name=told.get("JobName", ""),
        user=told.get("UserId", "").partition("(")[0],
        account=told.get("Account", ""),
        partition=told.get("Partition", "").split(",")[0],
        reason=told.get("Reason", ""),
        restarts=values.number(told.get("Restarts")),
        marks=frozenset((state,)),
    )


TIMES = ("SubmitTime", "EligibleTime", "StartTime", "EndTime", "PreemptTime", "ResizeTime", "SuspendTime")


def _which(told: dict[str, str]) -> Job:
    if "HetJobId" in told:
        return Job(told["HetJobId"], int(told.get("HetJobOffset", "0")))
    task = told.get("ArrayTaskId", "")
    return Job(f"{told['ArrayJobId']}_{task}") if task.isdecimal() else Job(told["JobId"])


def _each(block: str, names: tuple[str, ...]) -> list[int]:
    """Return the GPUs of each node from the lines "Nodes=node[1-2] CPU_IDs=0 Mem=1024 GRES=gpu:a100:2(IDX:0-1)"."""
    found: dict[str, int] = {}
    for line in block.splitlines():
        told = pairs(line)
        if "Nodes" in told and "GRES" in told:
            found.update(dict.fromkeys(hosts.expand(told["Nodes"]), gpus.of_gres(told["GRES"])))
    return [found.get(name, 0) for name in names]
