"""The recorded Slurm as a stand-in for its programs: at each instant it says what was recorded for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from astra.collect.slurm import sacct_json, scontrol, tables, values
from astra.collect.slurm.record import Job, Record
from astra.collect.slurm.scontrol import Node
from astra.collect.slurm.words import state_of

FOLDER = Path(__file__).parents[2].parent / "shared/data/slurm-recorded"
ZONE = ZoneInfo("Asia/Kathmandu")
SAMPLE = (
    "JOBID",
    "ARRAY",
    "TASK",
    "NAME",
    "USER",
    "PARTITION",
    "STATE",
    "REASON",
    "NODES",
    "NODELIST",
    "START",
    "TRES",
)
SUSPENDED_AT = {"4127": 1795964820_000}  # suspend_time in snapshots/06_suspended/squeue.json


def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
    return found


def accounted() -> list[Record]:
    return list(sacct_json.read(json.loads((FOLDER / "sacct_D.json").read_text()), Counter()))


def samples(name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (ms, lines) of a file with a line "@ EPOCH" before each sample."""
    at, lines = 0, list[str]()
    for line in (FOLDER / name).read_text().splitlines():
        if line.startswith("@ "):
            if at:
                yield at, lines
            at, lines = round(float(line[2:]) * 1000), []
        elif not line.startswith("#"):
            lines.append(line)
    yield at, lines


class Recorded:
    """Slurm's programs at the instant `at` (ms), by the samples of squeue and sinfo and the accounting."""

    def __init__(self) -> None:
        self.at = 0
        self.records = accounted()
        self.lists = list(samples("squeue_each_second.txt"))
        self.fleet = list(samples("sinfo_changes.txt"))
        self.gpus = {node.name: node for node in scontrol.nodes((FOLDER / "scontrol_show_node_o.txt").read_text())}

    def queue(self) -> tuple[list[Record], bool]:
        if self.at > self.lists[-1][0] + 1_000:
            return [], True  # the sampling is over
        lines = next((lines for at, lines in reversed(self.lists) if at <= self.at), [])
        table = tables.read("\n".join(f"{line}|" for line in lines), Counter(), [*SAMPLE, "QOS", ""])
        found = [self._shown(row) for row in tables.rows(table)]
        return [record for record in found if record is not None], True

    def _shown(self, row: dict[str, str]) -> Record | None:
        """Return a line of squeue with what the recorded columns leave out, taken from the accounting."""
        leader, plus, part = row["JOBID"].partition("+")
        job, state = Job(leader, int(part) if plus else None), state_of(row["STATE"])
        waits = state == "PENDING"
        mine = [
            each
            for each in self.records
            if each.job == job and ((each.submit if waits else each.start) or 0) <= self.at
        ]
        if not mine:
            return None
        record = mine[-1]
        eligible = record.eligible if record.eligible is not None and record.eligible <= self.at else None
        return replace(
            record,
            state=state,
            reason=row["REASON"],
            eligible=eligible if waits else record.eligible,
            start=None if waits else record.start,
            end=record.end if state == "COMPLETING" else None,
            nodes=() if waits else record.nodes,
            held=() if waits else record.held,
            width=values.number(row["NODES"]) or 1,
            switched=SUSPENDED_AT.get(job.name) if state == "SUSPENDED" else None,
            step=None,
            elapsed=None,
            marks=frozenset((state,)),
        )

    def accounted(self, since: datetime) -> list[Record]:
        return [self._so_far(record) for record in self.records if (record.submit or 0) <= self.at]

    def jobs(self, names: list[str]) -> list[Record]:
        return [record for record in self.accounted(datetime.now(UTC)) if record.job.name in names]

    def _so_far(self, record: Record) -> Record:
        """Return a record as it stood then."""
        ended = record.end is not None and record.end <= self.at
        began = record.start is not None and record.start <= self.at
        step = record.step if record.step is not None and record.step <= self.at else None
        if ended:
            return replace(record, step=step)
        state = "RUNNING" if began else "PENDING"
        gone = {} if began else {"start": None, "nodes": (), "held": ()}
        eligible = record.eligible if record.eligible is not None and record.eligible <= self.at else None
        more = {"end": None, "state": state, "elapsed": None, "marks": frozenset((state,)), "eligible": eligible}
        return replace(record, step=step, **more, **gone)  # type: ignore[arg-type]

    def nodes(self) -> list[Node]:
        told: dict[str, str] = {}
        for at, lines in self.fleet:
            if at <= self.at:
                told.update((line.split("|")[0], line.split("|")[2]) for line in lines)
        return [
            node._replace(answers="*" not in told.get(name, ""), ready="*" not in told.get(name, ""))
            for name, node in self.gpus.items()
        ]
