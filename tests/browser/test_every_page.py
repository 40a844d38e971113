"""Every page there is, found by walking the addresses, with names that are markup: inert, and nobody complains."""

import re

from ledger.batches import Batch, MachineItem
from ledger.core.categories import Phase
from ledger.ingest import ingest
from tests.browser.conftest import Site, Visit
from tests.browser.screens import addressed
from tests.dashboards.world import CLOSING, MARKUP, run, state

NAMES = {
    "organization": "acme", "workspace": MARKUP, "cluster": "east", "run": f"uid-{CLOSING}2",
    "machines": CLOSING, "pools": CLOSING, "log-profiles": "maxtext",
}  # fmt: skip


def tell(site: Site) -> None:
    """Tell of a workspace, a run, a user, a machine and a pool whose names are markup; a worker of it is stalled."""
    batch = Batch("test/east", site.world.now, seen_from=site.world.edge)
    batch.machines = [MachineItem(0, CLOSING, CLOSING, 8000, False)]
    run(batch, CLOSING + "2", MARKUP, site.world.edge, workspace=MARKUP)
    begin, where = site.world.edge, {"machine": CLOSING, "pool": CLOSING, "gpus_milli": 1000}
    state(batch, CLOSING + "2", MARKUP, begin, Phase.RUNNING, **where)
    state(batch, CLOSING + "2", CLOSING, begin, Phase.FAILED, reason="failure", **where)
    state(batch, CLOSING + "2", "worker-0", begin, Phase.RUNNING, stalled=True, **where)
    assert ingest(site.world.east, batch).refused == []


def test_names_are_inert_on_every_page(visit: Visit, site: Site) -> None:
    tell(site)
    page = visit().open(name="adam")
    seen = []
    for route, address in addressed(NAMES):
        if route == "login":
            continue
        answer = page.goto(site.url + address)
        assert answer
        assert answer.status == 200, route
        assert page.locator("main img, main script").count() == 0, route
        assert not page.title().startswith("broken"), route
        page.locator("body").press("Tab")
        seen += re.findall("document.title", page.locator("body").inner_text())
    assert len(seen) > 20, "the names were there"
