"""Every page there is, found by walking the addresses, with names that are markup: inert, and nobody complains."""

import re

import pytest
from playwright.sync_api import Page

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


CUT = """() => [...document.querySelectorAll("main, main table, main pre, main .bar, main .lane")]
    .filter((e) => e.checkVisibility() && Math.max(e.getBoundingClientRect().right, e.scrollWidth) > innerWidth + 1)
    .map((e) => `${e.tagName} ${e.className.baseVal ?? e.className} ${e.id} ${e.scrollWidth}`)"""
A4 = 703  # pixels between the margins
COLOURED = ".bar rect, .shades i, .heat-map path, .lane rect, .badge"
UNPAINTED = f"""() => [...document.querySelectorAll("{COLOURED}")]
    .filter((e) => e.checkVisibility() && getComputedStyle(e).printColorAdjust !== "exact").length"""


def pages_of(site: Site) -> list[tuple[str, str]]:
    return [(route, site.url + address) for route, address in addressed(NAMES) if route != "login"]


def opened(page: Page, address: str) -> Page:
    answer = page.goto(address)
    assert answer
    assert answer.status == 200, address
    return page


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_on_any_page(visit: Visit, site: Site, axe: str, scheme: str, width: int) -> None:
    tell(site)
    page = visit(width=width, color_scheme=scheme).open(name="adam")
    for route, address in pages_of(site):
        opened(page, address).evaluate(axe)
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        assert [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found] == [], route
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), route


def test_on_paper_nothing_is_cut_and_colours_stay(visit: Visit, site: Site) -> None:
    tell(site)
    page = visit(width=A4, color_scheme="dark").open(name="adam")
    page.emulate_media(media="print")
    numbers = [(f"{route} in numbers", f"{at}?show=numbers") for route, at in pages_of(site) if at.endswith("/goodput")]
    for route, address in [*pages_of(site), *numbers]:
        opened(page, address)
        assert page.evaluate(CUT) == [], route
        assert page.evaluate(UNPAINTED) == 0, route
        assert page.locator(".menu, button").locator("visible=true").count() == 0, route
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 31, 33)", "paper is light"


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
