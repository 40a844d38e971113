"""A Slurm that says what a test wants, instant by instant, and an agent that asks it; instants in seconds of a day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from astra.collect.items import Items
from astra.collect.slurm.notebook import Notebook
from astra.collect.slurm.record import Record
from astra.collect.slurm.scontrol import Node
from astra.collect.slurm.watching import Pace, SlurmSource
from astra.collect.source import SourceError
from tests.slurm.test_mapping import DAY, record

NODE = Node("n1", "p", 8000, ready=True, answers=True, why="")
MIDNIGHT = datetime.fromtimestamp(DAY / 1000, UTC)


def job(line: str, reason: str = "None", **more: Any) -> Record:
    """Return what squeue says of job 7; `restarts` 0 unless said: there is no attempt before."""
    told = record(line, reason=reason, **{"restarts": 0, **more})
    return replace(told, marks=frozenset((told.state,)))


@dataclass
class Scripted:
    """`deaf`: programs that do not answer. `asked`: the jobs that sacct was asked of."""

    listed: list[Record] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    fleet: list[Node] = field(default_factory=lambda: [NODE])
    deaf: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    legible: bool = True

    def _answers(self, program: str) -> None:
        if program in self.deaf:
            raise SourceError(f"{program} is away")

    def queue(self) -> tuple[list[Record], bool]:
        self._answers("squeue")
        return self.listed, self.legible

    def accounted(self, since: datetime) -> list[Record]:
        self._answers("sacct")
        return []

    def jobs(self, names: list[str]) -> list[Record]:
        self._answers("sacct")
        self.asked += names
        return [each for each in self.records if each.job.name in names]

    def nodes(self) -> list[Node]:
        self._answers("scontrol")
        return self.fleet


class Agent:
    """The loop's steps by hand; `told` are all items so far."""

    def __init__(self, slurm: Scripted, notebook: Notebook | None = None) -> None:
        self.slurm, self.second = slurm, 0.0
        self.source = SlurmSource(
            "alpha", slurm, {"lab1": "vision"}, Pace(nodes=1, accounts=60, whole=300), self.clock, notebook
        )
        self.told: list[Items] = []

    def clock(self) -> datetime:
        return MIDNIGHT + timedelta(seconds=self.second)

    def ask(self, second: float, *listed: Record) -> list[str]:
        """Let it ask at an instant; return what it tells of workers that is new."""
        self.second, self.slurm.listed = second, list(listed)
        items = [each for each in self.source.steps(second) if not each.complete]
        self.told += items
        return [said(item) for each in items for item in each.workers]


def said(item: dict[str, Any]) -> str:
    """Return a worker's item as "node-0 10 running … #1 8 n1"."""
    at = (datetime.fromisoformat(item["at"]) - MIDNIGHT) / timedelta(seconds=1)
    words = (item["worker"], f"{at:g}", item["phase"], item.get("reason"), f"#{item['attempt']}", item.get("gpus"))
    return " ".join(str(word) for word in (*words, item.get("machine")) if word is not None)


def all_of(told: Iterable[Items]) -> list[str]:
    return sorted(said(item) for each in told for item in each.workers)
