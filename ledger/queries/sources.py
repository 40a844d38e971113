"""What sources say now: who is heard, who is stale, whose list is held back; and which workers hold GPUs."""

from typing import NamedTuple

from ledger import sql
from ledger.access import Scope


class SourceNow(NamedTuple):
    """A source; instants in ms.

    `word_at` is its newest word, `live` how many workers live whose latest phase it told. `stale_since`: from there
    on nobody watches those (None: somebody does, or there are none). `held_since`: from there on its complete lists
    lack more than half of its workers and are held back (None: none is), which is called workers_vanished.
    """

    organization: str
    cluster: str
    source: str
    word_at: int | None
    live: int
    stale_since: int | None
    held_since: int | None


class HeldWorker(NamedTuple):
    """A worker that holds GPUs now, and where readings of them are found; `devices` has commas between them."""

    id: int
    workspace: str
    run: str
    run_name: str
    worker: str
    machine: str
    pool: str
    gpus_milli: int
    pod: str
    devices: str


def sources_now(clusters: list[int] | None = None) -> tuple[SourceNow, ...]:
    """Return the sources of these clusters, of all when none are given, by their names."""
    return tuple(SourceNow(*row) for row in sql.rows("sources_now", clusters=clusters))


def held_workers(scope: Scope, limit: int, after: int = 0) -> tuple[HeldWorker, ...]:
    """Return the workers that hold GPUs of the scope's cluster, in the order of their ids after one of them."""
    where = {"workspaces": sorted(scope.workspaces), "cluster": scope.cluster}
    return tuple(HeldWorker(*row) for row in sql.rows("workers_held", **where, limit=limit, after=after))
