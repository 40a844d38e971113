"""The weeks, the runs and a whole cluster in a browser: the chart, the timeline, and all of it without JavaScript."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from ledger import viewers
from ledger.core.windows import DAY, HOUR
from ledger.models import Straggle
from tests.browser.conftest import Site, Visit
from tests.dashboards.test_stragglers import slow

WEEKLY = "/w/acme/vision/goodput/weekly"
RUNS = "/w/acme/vision/runs"
LLM = f"{RUNS}/uid-llm"
EAST = "/organizations/acme/clusters/east"
GPU_1 = "/w/acme/vision/machines/gpu-1"
PLACES = (
    "/w/acme/vision/machines", GPU_1, "/w/acme/vision/pools/h100",
    f"{EAST}/goodput", f"{EAST}/goodput/weekly", f"{EAST}/machines", f"{EAST}/pools/h100",
)  # fmt: skip


def test_the_chart_is_drawn_and_stays_over_a_refresh(visit: Visit) -> None:
    page = visit().open(path=WEEKLY)
    expect(page.locator(".plot .bars .point")).to_have_count(64)
    page.evaluate("document.querySelector('.plot .main-svg').dataset.mark = 'same'")
    page.locator("#tab-pool").click()
    expect(page).to_have_url(re.compile(r"weekly\?by=pool$"))
    expect(page.locator("#sort-name")).to_have_text("Pool")
    expect(page.locator(".plot .main-svg[data-mark=same]")).to_have_count(1)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".plot .ytitle")).to_have_css("fill", "rgb(155, 162, 170)")
    page.locator(".plot .nsewdrag").hover()
    expect(page.locator(".plot .hoverlayer")).to_contain_text("GPU-hours")


def test_a_week_leads_to_its_hours_with_the_head_of_that_page(visit: Visit, site: Site) -> None:
    page = visit().open(path=WEEKLY)
    page.locator("#rows tr.week a").first.click()
    expect(page).to_have_url(re.compile(r"/goodput\?start=.*&end="))
    expect(page.locator(".menu [aria-current=page]")).to_have_text("Goodput")
    assert page.locator("link[href*='weeks.css']").count() == 0


def test_the_timeline_tells_instants_by_pointer_and_by_keyboard_and_looks_closer(visit: Visit) -> None:
    page = visit().open(path=LLM)
    lane = page.locator("#lanes svg.lane").first
    lane.focus()
    page.keyboard.press("Home")
    expect(page.locator("#told")).to_have_text(re.compile(r"^worker-0: waiting, .* UTC \(2 h 0 min\), on no machine"))
    page.keyboard.press("ArrowRight")
    expect(page.locator("#told")).to_have_text(re.compile(r"^worker-0: starting, .* \(10 min\), gpu-1 h100, attempt 1"))
    lane.locator("rect.k1").first.hover()
    expect(page.locator("#told")).to_have_text(re.compile("^worker-0: idle"))
    box = lane.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"\?from=.*&to=.*#timeline$"))
    page.locator("#zoom-all").click()
    expect(page.locator("#zoom-all")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("from="))


def test_a_loss_is_looked_at_in_the_timeline(visit: Visit) -> None:
    page = visit().open(path=LLM)
    page.locator(".losses tr", has_text="failed").get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"\?from=.*&to=.*#timeline$"))
    expect(page.locator("#lanes svg.lane").first.locator("rect.k5")).not_to_have_count(0)
    page.go_back()
    expect(page).to_have_url(re.compile(r"uid-llm$"))
    expect(page.locator("#zoom-all")).to_have_count(0)


def test_the_heat_map_is_read_by_pointer_and_by_keyboard(visit: Visit, site: Site) -> None:
    page = visit().open(path=GPU_1)
    heat, told = page.locator("#heat-map"), page.locator("#heat-told")
    heat.focus()
    page.keyboard.press("Home")
    expect(told).to_have_text(re.compile(r"00:00 UTC: nothing was held$"))
    page.keyboard.press("End")
    expect(told).to_have_text(re.compile(r" 23:00 UTC: "))
    page.keyboard.press("Home")
    held = site.world.edge - 2 * DAY + 4 * HOUR
    days, hours = divmod((held - int(heat.get_attribute("data-start") or 0)) // HOUR, 24)
    for key in ["ArrowRight"] * days + ["ArrowDown"] * (hours + 1) + ["ArrowUp"]:
        page.keyboard.press(key)
    expect(told).to_have_text(re.compile(r"^\w+,? \d+ \w+,? \d\d:00 UTC: goodput \d+ %, 8.0 GPU-hours held$"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?start=.*%3A00%3A00Z&end=.*%3A00%3A00Z$"))
    expect(page.locator("#figure-held b")).to_have_text("8.0")
    page.go_back()
    page.locator("#heat-table summary").click()
    expect(page.locator("#heat-table tbody tr").nth(6)).to_be_visible()
    with page.expect_response(re.compile("gpu-1$")):
        page.evaluate("htmx.trigger('#page', 'refresh')")
    expect(page.locator("#heat-table tbody tr").first).to_be_visible()
    page.locator("#heat-map svg").hover()
    expect(told).to_contain_text("UTC: ")


def test_the_heat_map_has_the_days_and_hours_of_who_reads(visit: Visit) -> None:
    adam = User.objects.get(username="adam")
    viewers.set_zone(adam, "Asia/Kolkata")
    try:
        page = visit().open(path=GPU_1, name="adam")
        expect(page.locator("#heat .detail")).to_contain_text(
            "Asia/Kolkata; hours are counted by UTC, so here they begin"
        )
        page.locator("#heat-map").focus()
        page.keyboard.press("Home")
        expect(page.locator("#heat-told")).to_have_text(re.compile(r" 00:30 IST: nothing was held$"))
        page.keyboard.press("End")
        for _ in range(25):
            page.keyboard.press("ArrowUp")
        expect(page.locator("#heat-told")).to_have_text(re.compile(r" \d\d:30 IST: goodput \d+ %, 8.0 GPU-hours held$"))
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"\?start=.*%3A00%3A00Z&end=.*%3A00%3A00Z$"))
        expect(page.locator("#figure-held b")).to_have_text("8.0")
    finally:
        viewers.set_zone(adam, "")


def test_a_machine_leads_to_its_runs_and_its_troubles(visit: Visit) -> None:
    page = visit().open(path="/w/acme/vision/machines?range=24h")
    page.get_by_role("link", name="gpu-2", exact=True).click()
    expect(page).to_have_url(re.compile(r"/machines/gpu-2\?range=24h$"))
    page.get_by_role("link", name="7 d").click()
    page.locator("#troubles tbody tr", has_text="failed").get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/runs/uid-llm\?from=.*#timeline$"))
    page.go_back()
    page.locator("#rows").get_by_role("link", name="llm").click()
    expect(page.locator("#state")).to_have_text("stalled")
    expect(page.locator("#beside")).to_contain_text("median")


def test_all_of_it_without_javascript(visit: Visit, site: Site) -> None:
    page = visit(java_script_enabled=False).open(path=WEEKLY)
    expect(page.locator("#rows tr.week svg.bar")).to_have_count(8)
    expect(page.locator(".chart")).to_be_hidden()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_label("Search runs").fill("llm")
    page.get_by_role("button", name="Search").click()
    page.locator("#rows").get_by_role("link", name="llm").click()
    expect(page.locator("#state")).to_have_text("stalled")
    page.locator("#zoom-closer").click()
    page.locator("#zoom-earlier").click()
    expect(page.locator("#lanes svg.lane")).to_have_count(4)
    page.locator(".axis a").first.click()
    expect(page).to_have_url(re.compile(r"\?from=.*&to="))
    page.get_by_role("link", name="Machines", exact=True).click()
    page.get_by_role("link", name="gpu-1", exact=True).click()
    page.locator("#heat-table summary").click()
    page.locator("#heat-table tbody a").last.click()
    expect(page.locator("#heat-table tbody tr")).to_have_count(1)


@pytest.fixture
def straggled(site: Site, visit: Visit) -> Iterator[None]:
    """A worker on gpu-1 is slower than its gang; not for other tests."""
    slow(site.world, "worker-0", machine="gpu-1")
    yield
    Straggle.objects.all().delete()


def test_a_machine_leads_to_the_runs_it_slowed(visit: Visit, straggled: None) -> None:
    page = visit(color_scheme="dark").open(path=GPU_1)
    expect(page.locator("#straggled caption")).to_contain_text(re.compile(r"in 1 of its last 1 run of vision"))
    page.locator("#straggled a").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/uid-llm\?from=.*#timeline$"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit: Visit, axe: str, scheme: str, straggled: None) -> None:
    for width in (1440, 390):
        visitor = visit(width=width, color_scheme=scheme)
        for path in (WEEKLY, f"{WEEKLY}?show=numbers", RUNS, LLM, *PLACES):
            page = visitor.open(path=path, name="adam")
            page.evaluate(axe)
            found = page.evaluate("axe.run().then(({ violations }) => violations)")
            assert [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found] == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
