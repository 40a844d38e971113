"""Several nasty worlds in one cluster: their runs and sources are their own, machines and pools are shared."""

from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from ledger.checks import check
from ledger.models import Cluster
from tests import oracle
from tests.deliveries import Delivery, deliver
from tests.evidence import Settings
from tests.postgres_world import cells
from tests.worlds import MONDAY, World, make_world

SETTINGS = Settings()


class Told(NamedTuple):
    """A world under names of its own, and one way to tell it."""

    world: World
    way: list[Delivery]


def told_world(seed: int, mark: str) -> Told:
    """Draw a world whose runs and sources begin with `mark`; its facts lie up to two minutes ahead of the clock."""
    rng = Random(seed)
    world = replace(make_world(rng), settings=SETTINGS)
    way = deliver(world, rng, ahead=rng.choice((0, 120_000)))
    # Each batch names its runs: which of another source's comes first is not said.
    return Told(world, [Delivery(now, renamed(batch | {"runs": world.runs}, mark)) for now, batch in way])


def renamed(batch: dict[str, Any], mark: str) -> dict[str, Any]:
    return batch | {
        "source": f"{mark}/{batch['source']}",
        "runs": [run | {"uid": f"{mark}/{run['uid']}"} for run in batch["runs"]],
        **{
            items: [item | {"run": f"{mark}/{item['run']}"} for item in batch.get(items, ())]
            for items in ("workers", "readings")
        },
    }


def by_source(told: Told) -> list[list[Delivery]]:
    """Return the deliveries of each source, each in its order: what sources say may come in any order otherwise."""
    sources: dict[str, list[Delivery]] = {}
    for delivery in told.way:
        sources.setdefault(delivery.batch["source"], []).append(delivery)
    return list(sources.values())


def end(tolds: list[Told], clock: int = MONDAY) -> int:
    """Return an instant, on no edge, at which all of it has been over for hours."""
    return max(clock + 777, *(told.world.until for told in tolds), *(told.way[-1].now + 777 for told in tolds))


def wanted(tolds: list[Told], until: int) -> dict[oracle.type_cell, dict[str, int]]:
    """Return the oracle's cells of all worlds together."""
    found: dict[oracle.type_cell, dict[str, int]] = {}
    for told in tolds:
        found |= oracle.cells([delivery.batch for delivery in told.way], SETTINGS, until)
    return found


def prove(cluster: Cluster, tolds: list[Told], until: int, counted_until: int) -> None:
    """Assert that the ledger is what the oracle finds, and that its own check finds nothing."""
    differences = differing(cells(cluster, until), wanted(tolds, until))
    assert differences == [], f"the cells differ from the oracle's: {differences[:5]}"
    findings = list(check(cluster.pk, counted_until, now=until))[-1]
    assert findings.differences == [], f"check finds {findings.differences[:5]}"


def differing(kept: dict[Any, Any], told: dict[Any, Any]) -> list[tuple[Any, Any, Any]]:
    return [(key, kept.get(key), told.get(key)) for key in sorted({*kept, *told}) if kept.get(key) != told.get(key)]
