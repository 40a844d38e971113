"""Where a simulated ledger is kept: in memory by the real core, or on real Postgres by all of the real code."""

import json
from collections.abc import Callable
from typing import Any, Protocol

from tests.edges import without_the_old
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

    def edge(self) -> int: ...

    def move(self, edge: int) -> None: ...

    def sweep(self) -> None: ...

    def judge(self, now: int) -> None: ...

    def tell(self, *, fails: bool, answers: bool) -> None:
        """Send what is due; `fails` before it arrived, or not `answers` when it had."""

    def told(self, *, all_of_it: bool) -> set[str]:
        """Prove that nobody was forgotten, and return marks."""

    def interrupt(self, step: Callable[[], None], at: int) -> bool:
        """Take a step of the store's that dies at its `at`-th statement; False: it was done before."""


class InMemory:
    def __init__(self, world: World) -> None:
        self.memory = Memory(world.settings, world.start - HOUR)
        self.kept_from = 0

    def take(self, batch: dict[str, Any], now: int) -> None:
        self.memory.receive(now, without_the_old(batch, self.kept_from))

    def close(self, now: int) -> None:
        self.memory.close(now)

    def categorize(self, now: int) -> None:
        self.memory.categorize(now)

    def cells(self, now: int) -> type_amounts:
        self.memory.close(now)
        return self.memory.cells(now)

    def prove(self, now: int) -> None:
        """It keeps nothing twice."""

    def edge(self) -> int:
        return self.kept_from

    def move(self, edge: int) -> None:
        self.kept_from = edge

    def sweep(self) -> None:
        """What is before the edge stays; nobody is shown it."""

    def judge(self, now: int) -> None:
        """It has no alerts."""

    def tell(self, *, fails: bool, answers: bool) -> None:
        """It has nobody to tell."""

    def told(self, *, all_of_it: bool) -> set[str]:
        return set()

    def interrupt(self, step: Callable[[], None], at: int) -> bool:
        """A transaction that did not commit is one that never was."""
        return True


class Died(BaseException):
    """Takes the place of a process's death, so nobody catches it by the way."""


class OnPostgres:
    """Needs a database, as a test's."""

    def __init__(self, world: World) -> None:
        from tests.postgres_world import make_cluster
        from tests.simulation.telling import Telling

        self.cluster = make_cluster(world.settings, world.start - HOUR)
        self.telling = Telling(self.cluster)

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

    def edge(self) -> int:
        from ledger.alerts import ms
        from ledger.models import Cluster

        kept_from = Cluster.objects.values_list("kept_from", flat=True).get(pk=self.cluster.pk)
        return 0 if kept_from is None else ms(kept_from)

    def move(self, edge: int) -> None:
        from ledger.retention import move_to

        move_to(self.cluster.pk, edge)

    def sweep(self) -> None:
        from ledger.retention import sweep

        if edge := self.edge():
            sweep(self.cluster.pk, edge)

    def judge(self, now: int) -> None:
        from ledger.alerts import evaluate

        evaluate(self.cluster.pk, now)

    def tell(self, *, fails: bool, answers: bool) -> None:
        self.telling.send(fails=fails, answers=answers)

    def told(self, *, all_of_it: bool) -> set[str]:
        return self.telling.prove(all_of_it=all_of_it)

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
