"""The published recordings of a Kubernetes API server: their lists, what the watches brought, and what is expected."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from astra.collect.kubernetes.raw import ms

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FOLDER = DATA / "k8s-recorded"
NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/expected.json")))
KINDS = {
    "pods": "Pod", "nodes": "Node", "jobs.batch": "Job", "pytorchjobs.kubeflow.org": "PyTorchJob",
    "tfjobs.kubeflow.org": "TFJob", "mpijobs.kubeflow.org": "MPIJob", "xgboostjobs.kubeflow.org": "XGBoostJob",
    "paddlejobs.kubeflow.org": "PaddleJob", "jaxjobs.kubeflow.org": "JAXJob",
    "trainjobs.trainer.kubeflow.org": "TrainJob",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One thing that a watch received: its resource, when (UTC ms), its type and its object."""

    resource: str
    at: int
    type: str
    object: dict[str, Any]


@dataclass(frozen=True)
class Recording:
    name: str
    lists: dict[str, dict[str, Any]]
    events: tuple[Event, ...]
    expected: dict[str, Any]

    @property
    def began(self) -> int:
        return max(instant(one["received_at"]) for one in self.lists.values())

    @property
    def ended(self) -> int:
        return instant(self.expected["ended"])

    @property
    def namespace(self) -> str:
        return str(self.expected["namespace"])


def instant(text: str) -> int:
    found = ms(text)
    assert found is not None, text
    return found


@cache
def recording(name: str) -> Recording:
    folder = FOLDER / name
    lists = json.loads((folder / "lists.json").read_text())["start"]
    return Recording(name, lists, tuple(_events(folder)), json.loads((folder / "expected.json").read_text()))


def _events(folder: Path) -> Iterator[Event]:
    for line in (folder / "watch.jsonl").read_text().splitlines():
        said = json.loads(line)
        if "request" in said or "connection" in said or said.get("raw") is None:
            continue
        yield Event(said["resource"], instant(said["received_at"]), said["raw"]["type"], said["raw"]["object"])
