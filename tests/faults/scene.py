"""A cluster in the middle of a story, and the batches that go on with it in every way a batch can."""

import json
from functools import cache
from typing import Any

from ledger.categorizer import categorize
from ledger.checks import check
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster
from tests import oracle
from tests.evidence import Settings
from tests.faults.worlds import differing
from tests.postgres_world import cells, make_cluster
from tests.tables import at
from tests.worlds import iso

SETTINGS = Settings()
type_batch = dict[str, Any]


def batch(sent: str, *, workers: Any = (), readings: Any = (), **more: Any) -> type_batch:
    """Return a batch of source "a" about the runs r1 and r2; its items are (worker, at, facts)."""
    runs = [{"uid": uid, "workspace": "vision", "name": "llm", "user": "ana"} for uid in ("r1", "r2")]
    items = {"workers": [item(*one) for one in workers], "readings": [item(*one) for one in readings]}
    return {"source": "a", "sent_at": iso(at(sent)), "runs": runs, **items, **more}


def item(worker: str, moment: str, facts: dict[str, Any]) -> dict[str, Any]:
    run, name = worker.split("/")
    return {"run": run, "worker": name, "at": iso(at(moment)), **facts}


BEFORE = (
    (
        "20:00",
        batch(
            "20:00",
            workers=[
                ("r1/w0", "19:00", {"phase": "pending", "gpus": 8}),
                ("r1/w0", "19:30", {"phase": "running", "machine": "m1", "pool": "p"}),
                ("r1/w1", "19:30", {"phase": "running", "gpus": 4, "machine": "m2"}),
                ("r2/w0", "19:45", {"phase": "starting", "gpus": 0.5, "machine": "m1"}),
            ],
            readings=[("r1/w0", "19:59", {"gpu_busy": 90, "step": 7}), ("r1/w1", "19:59", {"gpu_busy": 90})],
            complete=True,
        ),
    ),
    ("21:58", batch("21:58", readings=[("r1/w0", "21:58", {"gpu_busy": 91, "step": 8})])),
)
# Late and early states, a proven stall of a gang, a flip, a word that fills a gap, a list that lacks a worker for
# the second time, machines and runs that are new, and items that are refused.
LACKING = ("24:20", batch("24:20", complete=True, workers=[("r1/w0", "23:00", {"attempt": 1})]))
RICH = (
    "24:21",
    batch(
        "24:21",
        seen_from=iso(at("22:30")),
        complete=True,
        machines=[{"name": "m1", "gpus": 8, "pool": "p"}, {"name": "m3", "gpus": 8, "pool": "q"}],
        workers=[
            ("r1/w0", "20:30", {"phase": "stopping", "reason": "preemption"}),
            ("r1/w0", "20:40", {"phase": "running", "attempt": 2, "machine": "m3"}),
            ("r1/w0", "24:22", {"phase": "failed"}),
            ("r1/w1", "23:10", {"gpus": 2}),
            ("r1/w0", "24:20", {"reason": "failure"}),
        ],
        readings=[
            ("r1/w0", "22:10", {"gpu_busy": 1, "step": 8}),
            ("r1/w0", "22:20", {"gpu_busy": 95, "step": 9}),
            ("r1/w0", "24:20", {"gpu_busy": 95, "step": 9}),
        ],
    ),
)


def begin(cluster: Cluster, *told: tuple[str, type_batch]) -> None:
    for moment, sent in told:
        deliver(cluster, moment, sent)


def deliver(cluster: Cluster, moment: str, sent: type_batch) -> None:
    ingest(cluster, decode(body(sent), "application/json"), now=at(moment))


def body(sent: type_batch) -> bytes:
    return json.dumps(sent).encode()


def make() -> Cluster:
    return make_cluster(SETTINGS, at("19:00"))


def prove(cluster: Cluster, told: list[type_batch], until: int, why: str = "") -> None:
    """Categorize at `until` and assert that the cells are the oracle's and that check finds nothing."""
    counted_until = categorize(cluster, now=until).counted_until
    differences = differing(cells(cluster, until), wanted(json.dumps(told), until))
    assert differences == [], f"{why}: the cells differ from the oracle's: {differences[:5]}"
    found = list(check(cluster.pk, counted_until, now=until))[-1].differences
    assert found == [], f"{why}: check finds {found[:5]}"


@cache
def wanted(told: str, until: int) -> dict[oracle.type_cell, dict[str, int]]:
    """Return the oracle's cells; the same story is asked for many times."""
    return oracle.cells(json.loads(told), SETTINGS, until)
