"""What is going on now: how far all is counted, who is stalled, where the first hour lies."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ledger import sql
from ledger.access import Scope
from ledger.queries.seen import seen


@dataclass(frozen=True, slots=True)
class Health:
    """Up to where every cluster is counted and when that was last looked at; None while there is no cluster."""

    counted_until: datetime | None
    last_categorized_at: datetime | None


class ClusterHealth(NamedTuple):
    """How a cluster does: how long ago it was counted and how long that took, items refused in a day, when pruned (ms).

    None: never.
    """

    organization: str
    cluster: str
    age_ms: int | None
    count_ms: int | None
    refused: int
    pruned_at: int | None


class StalledWorker(NamedTuple):
    """A worker that holds GPUs and makes no progress since `since`; `step` is the last one it told."""

    workspace: str
    run: str
    uid: str
    worker: str
    machine: str
    pool: str
    since: int
    step: int | None
    gpus_milli: int


def stalled_now(scope: Scope, limit: int = 50, offset: int = 0) -> tuple[StalledWorker, ...]:
    """Return the workers that hold GPUs and are stalled, longest first."""
    rows = sql.rows("stalled_now", **seen(scope), limit=limit, offset=offset)
    return tuple(StalledWorker(*row) for row in rows)


def now() -> int:
    """Return the database's clock."""
    return int(sql.value("clock_now"))


def health() -> Health:
    """Return how far all clusters are counted."""
    return Health(*sql.rows("health")[0])


def clusters_health() -> tuple[ClusterHealth, ...]:
    """Return how every cluster does, by name."""
    return tuple(ClusterHealth(*row) for row in sql.rows("clusters_health"))


def first_hour(scope: Scope) -> int | None:
    """Return the first hour in which anything was counted, None when nothing was yet.

    One statement where the roll-ups tell it, which they mostly do; two where a day is not rolled up.
    """
    found = sql.value("first_hour", **seen(scope))
    if found is None:
        found = sql.value("first_hour_unrolled", workspaces=sorted(scope.workspaces), cluster=scope.cluster)
    return None if found is None else int(found)
