"""Where a simulated ledger is kept: in memory by the real core, or on real Postgres by all of the real code."""

import json
from collections.abc import Callable
from typing import Any, Protocol

from tests.memory import Memory
from tests.simulation.truth import type_amounts
from tests.simulation.world import HOUR, World


class Store(Protocol):
    """One cluster; `now` (ms) is what its clock says."""

    def take(self, batch: dict[str, Any], now: int) -> None: ...

    def close(self, now: int) -> None: ...

    def categorize(self, now: int) -> None: ...

    def cells(self, now: int) -> type_amounts: ...

    def prove(self, now: int) -> None: ...

    def interrupt(self, step: Callable[[], None], at: int) -> bool:
        """Take a step of the store's that dies at its `at`-th statement; False: it was done before."""


class InMemory:
    def __init__(self, world: World) -> None:
        self.memory = Memory(world.settings, world.start - HOUR)

    def take(self, batch: dict[str, Any], now: int) -> None:
        self.memory.receive(now, batch)

    def close(self, now: int) -> None:
        self.memory.close(now)

    def categorize(self, now: int) -> None:
        self.memory.categorize(now)

    def cells(self, now: int) -> type_amounts:
        self.memory.close(now)
        return self.memory.cells(now)

    def prove(self, now: int) -> None:
        """It keeps nothing twice."""

    def interrupt(self, step: Callable[[], None], at: int) -> bool:
        """A transaction that did not commit is one that never was."""
        return True


class Died(Exception):
    """Takes the place of a process's death."""


class OnPostgres:
    """Needs a database, as a test's."""

    def __init__(self, world: World) -> None:
        from tests.postgres_world import make_cluster

        self.cluster = make_cluster(world.settings, world.start - HOUR)

    def take(self, batch: dict[str, Any], now: int) -> None:
        from ledger.decode import decode
        from ledger.ingest import ingest

        ingest(self.cluster, decode(json.dumps(batch).encode(), "application/json"), now=now)

    def close(self, now: int) -> None:
        from ledger import hours

        hours.close_over(self.cluster.pk, now)

    def categorize(self, now: int) -> None:
        from ledger.categorizer import categorize

        categorize(self.cluster, now=now, batch_size=2)

    def cells(self, now: int) -> type_amounts:
        from tests.postgres_world import cells

        self.close(now)
        return cells(self.cluster, now)

    def prove(self, now: int) -> None:
        from ledger.checks import check

        found = list(check(self.cluster.pk, now, now=now))[-1].differences
        assert found == [], f"check finds {found[:5]}"

    def interrupt(self, step: Callable[[], None], at: int) -> bool:
        from tests.faults.failpoints import failpoints

        def reached(crossed: int, name: str) -> None:
            if crossed == at:
                raise Died(name)

        try:
            with failpoints(reached):
                step()
        except Died:
            return True
        return False


STORES = {"memory": InMemory, "postgres": OnPostgres}
