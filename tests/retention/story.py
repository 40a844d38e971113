"""A cluster whose first day is over 400 days ago, with work that ended in it, that began in it, and that goes on."""

from typing import Any

from ledger.categorizer import categorize
from ledger.core.windows import DAY, HOUR
from ledger.models import Cluster
from tests.faults import scene
from tests.tables import at

EDGE = at("24:00")
NOW = EDGE + 400 * DAY + HOUR + 1
OLD = (
    "23:00",
    scene.batch(
        "23:00",
        machines=[{"name": "m9", "gpus": 8, "pool": "p"}],
        workers=[
            ("r3/w0", "01:00", {"phase": "running", "gpus": 2, "machine": "m9", "pool": "p"}),
            ("r3/w0", "02:00", {"phase": "failed"}),
            ("r3/w0", "02:30", {"phase": "ended"}),
        ],
        readings=[("r3/w0", "01:10", {"gpu_busy": 90, "step": 1}), ("r3/w0", "01:40", {"gpu_busy": 1, "step": 1})],
    ),
)
OLD[1]["runs"].append({"uid": "r3", "workspace": "vision", "name": "old", "user": "ana"})
TOLD = [*scene.BEFORE, OLD, scene.LACKING, scene.RICH]


def told_cluster() -> Cluster:
    """Return a cluster that was told all of it, at the end of its second day."""
    cluster = scene.make()
    scene.begin(cluster, *TOLD)
    categorize(cluster, now=at("48:30"))
    return cluster


def batches() -> list[Any]:
    return [sent for _, sent in TOLD]
