"""A cluster on a scripted clock, and a source that talks to it in few words."""

import json
from typing import Any

import pytest

from ledger.access import scope_of_organization
from ledger.batches import Receipt
from ledger.categorizer import categorize
from ledger.checks import Findings, check
from ledger.core.windows import Window
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Workspace
from ledger.queries import Answer, Filters, goodput
from tests.evidence import Settings
from tests.postgres_world import make_cluster
from tests.tables import at
from tests.worlds import MONDAY, iso

RUN = {"workspace": "vision", "uid": "run-1", "name": "llm", "user": "ana"}


class East:
    """A cluster whose time is told as "hh:mm" after a Monday's midnight, one run `run-1` in workspace `vision`."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def send(self, now: str, *, source: str = "agent", workspace: Workspace | None = None, **batch: Any) -> Receipt:
        """Deliver a batch at `now`; its word is of that instant too."""
        body = {"source": source, "sent_at": iso(at(now)), "runs": [RUN], **batch}
        return ingest(
            self.cluster, decode(json.dumps(body).encode(), "application/json"), workspace=workspace, now=at(now)
        )

    def say(self, now: str, *states: dict[str, Any], **batch: Any) -> Receipt:
        return self.send(now, workers=list(states), **batch)

    def categorize(self, now: str) -> int:
        return categorize(self.cluster, now=at(now)).counted_until

    def check(self, now: str) -> Findings:
        """Categorize and check at `now`, all of it."""
        return list(check(self.cluster.pk, self.categorize(now), now=at(now)))[-1]

    def goodput(self, start: str, end: str, by: str = "run", **filters: str) -> Answer:
        scope = scope_of_organization(self.cluster.organization)
        return goodput(scope, Window(at(start), at(end)), by, Filters(**filters))


def state(moment: str, phase: str = "", worker: str = "w0", **fields: Any) -> dict[str, Any]:
    """Return a state of a worker of `run-1`."""
    said = {"phase": phase} if phase else {}
    return {"run": "run-1", "worker": worker, "at": iso(at(moment)), **said, **fields}


def reading(moment: str, worker: str = "w0", **fields: Any) -> dict[str, Any]:
    if "since" in fields:
        fields["from"] = iso(at(fields.pop("since")))
    return {"run": "run-1", "worker": worker, "at": iso(at(moment)), **fields}


def hours(**amounts: float) -> dict[str, int]:
    """Return GPU-hours by category as GPU-microseconds."""
    return {name: round(value * 3_600_000_000) for name, value in amounts.items()}


@pytest.fixture
def east(db: None) -> East:
    return East(make_cluster(Settings(), MONDAY))
