"""The Goodput page in a browser: what a person clicks, types and waits for."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, Visit
from tests.dashboards.world import more_runs

GOODPUT = "/w/acme/vision/goodput"


def names(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("#rows tbody th").all_inner_texts()]


def mark(page: Page) -> None:
    """Leave something behind that a page load would wipe out."""
    page.evaluate("window.sameDocument = true")


def assert_same_document(page: Page) -> None:
    assert page.evaluate("window.sameDocument === true"), "the whole page was loaded again"


def test_signing_in_and_out(visit: Visit, site: Site) -> None:
    visitor = visit()
    page = visitor.page
    page.goto(f"{site.url}/")
    expect(page).to_have_url(f"{site.url}/login?next=/")
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill("guess")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That name and password do not belong together.")
    visitor.sign_in()
    expect(page).to_have_url(f"{site.url}/w/acme/empty%20room/goodput")
    page.goto(f"{site.url}{GOODPUT}")
    expect(page).to_have_title("Goodput · vision · acme")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{site.url}/login")
    page.go_back()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_tabs_sorting_range_and_back_need_no_page_load(visit: Visit, site: Site) -> None:
    page = visit().open()
    mark(page)
    page.locator("#tab-machine").click()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?by=machine")
    expect(page.locator("#tab-machine")).to_have_attribute("aria-current", "true")
    expect(page.locator("#sort-name")).to_have_text("Machine")
    page.locator("#sort-name").click()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?by=machine&sort=name")
    assert names(page) == sorted(names(page))
    page.get_by_role("link", name="24 h").click()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?range=24h&by=machine&sort=name")
    page.locator("#legend-failure").click()
    expect(page).to_have_url(re.compile("sort=-failure"))
    expect(page.locator("#sort-picked")).to_have_text(re.compile("Failure"))
    assert_same_document(page)
    page.go_back()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?range=24h&by=machine&sort=name")
    expect(page.locator("#sort-picked")).to_have_count(0)
    page.go_back()
    page.go_back()
    expect(page.locator("#tab-machine")).to_have_attribute("aria-current", "true")
    expect(page).to_have_url(f"{site.url}{GOODPUT}?by=machine")
    page.go_forward()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?by=machine&sort=name")
    assert_same_document(page)
    page.reload()
    expect(page.locator("#tab-machine")).to_have_attribute("aria-current", "true")


def test_search_follows_the_typing_and_keeps_the_caret(visit: Visit, site: Site) -> None:
    page = visit().open()
    mark(page)
    page.get_by_label("Search runs").click()
    page.keyboard.type("sweep-01", delay=15)
    expect(page.locator("#rows tbody tr")).to_have_count(10)
    assert all("sweep-01" in name for name in names(page))
    expect(page).to_have_url(f"{site.url}{GOODPUT}?q=sweep-01")
    expect(page.get_by_label("Search runs")).to_be_focused()
    page.keyboard.type("3")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.get_by_label("Search runs")).to_have_value("sweep-013")
    assert_same_document(page)


def test_a_range_from_to(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open()
    page.locator("#custom summary").click()
    page.get_by_label("From UTC").fill("2026-01-05T00:00")
    page.get_by_label("to UTC").fill("2026-01-06T12:00")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"\?start=2026-01-05T00%3A00&end=2026-01-06T12%3A00&zone=UTC$"))
    expect(page.locator("#nothing")).to_contain_text("No GPU was asked for in these hours.")
    expect(page.get_by_label("From UTC")).to_be_hidden()
    page.locator("#custom summary").click()
    page.get_by_label("to UTC").fill("2026-01-01T00:00")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_have_text("The range ends before it starts.")
    assert all("400 (Bad Request)" in text for text in visitor.complaints)
    visitor.complaints.clear()


def test_rows_lead_deeper_and_chips_lead_back(visit: Visit) -> None:
    page = visit().open(path=f"{GOODPUT}?by=machine")
    row = page.locator("#rows tbody tr", has=page.get_by_role("link", name="gpu-1", exact=True))
    row.locator(".where").hover()
    row.locator(".card a").first.click()
    expect(page.locator(".chips")).to_contain_text("machine gpu-1")
    expect(page.locator("#rows tbody th")).to_have_count(1)
    page.get_by_label("Remove machine gpu-1").click()
    expect(page.locator(".chips")).to_have_count(0)


def test_pages_of_rows(visit: Visit) -> None:
    page = visit().open()
    first = names(page)
    assert len(first) == 50
    page.locator("#next").click()
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.locator("#next")).to_have_count(0)
    assert not set(first) & set(names(page))


def test_a_bar_names_category_hours_and_share_under_the_pointer_and_in_focus(visit: Visit) -> None:
    page = visit().open()
    row = page.locator("#rows tbody tr", has=page.get_by_role("link", name="llm", exact=True))
    card = row.locator(".card")
    expect(card).to_be_hidden()
    row.locator("rect.k1").hover()
    expect(card).to_be_visible()
    expect(card.locator("li.k1")).to_have_text(re.compile(r"idle96\.0\d+\.\d %"))
    expect(card.locator("li.k1")).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(card.locator("li.k0")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.mouse.move(1, 1)
    expect(card).to_be_hidden()
    row.locator(".where").focus()
    expect(card).to_be_visible()
    row.locator("rect.k1").hover()
    card.get_by_text("idle").click()
    expect(page).to_have_url(re.compile("run=uid-llm&sort=-idle"))


def test_a_bar_s_categories_are_reached_by_keyboard_and_stay_over_a_refresh(visit: Visit) -> None:
    page = visit().open()
    row = page.locator("#rows tbody tr", has=page.get_by_role("link", name="llm", exact=True))
    row.locator(".where").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(row.locator(".card li.k1 a")).to_be_focused()
    with page.expect_response(re.compile("goodput$")):
        page.evaluate("htmx.trigger('#page', 'refresh')")
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    expect(row.locator(".card li.k1 a")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row.locator(".where")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("run=uid-llm&sort=-"))


def test_a_refresh_keeps_focus_scroll_what_is_open_and_what_is_typed(visit: Visit, site: Site) -> None:
    page = visit(height=500).open(path=f"{GOODPUT}?sort=-productive")
    mark(page)
    page.locator("#meaning summary").click()
    link = page.locator("#rows tbody tr").nth(20).get_by_role("link").first
    link.focus()
    page.evaluate("window.scrollTo(0, 700)")
    before = page.evaluate("[document.activeElement.id, window.scrollY]")
    counted = page.locator("#counted").inner_text()
    more_runs(site.world, 1)
    with page.expect_response(lambda response: "goodput" in response.url):
        page.evaluate("htmx.trigger('#page', 'refresh')")
    expect(page.locator("#row-total")).to_contain_text("of all 63")
    assert page.evaluate("[document.activeElement.id, window.scrollY]") == before
    assert page.locator("#meaning").get_attribute("open") is not None
    assert counted
    assert_same_document(page)


def test_the_page_refreshes_each_minute_unless_somebody_is_typing(visit: Visit) -> None:
    visitor = visit()
    visitor.page.clock.install()
    page = visitor.open()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "hx-request" in request.headers else None)
    page.clock.fast_forward(59_000)
    assert asked == []
    with page.expect_response(lambda response: "goodput" in response.url):
        page.clock.fast_forward(2_000)
    page.locator("#custom summary").click()
    page.get_by_label("From UTC").fill("2026-01-05T00:00")
    page.clock.fast_forward(61_000)
    page.clock.fast_forward(61_000)
    assert asked == [page.url]
    expect(page.get_by_label("From UTC")).to_have_value("2026-01-05T00:00")


def test_a_refresh_that_fails_says_so_and_the_next_one_takes_it_back(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open()
    page.route("**/goodput*", lambda route: route.abort())
    page.evaluate("htmx.trigger('#page', 'refresh')")
    expect(page.locator("#unreached")).to_contain_text("The server does not answer. What you see was counted until")
    expect(page.locator("#rows")).to_be_visible()
    page.unroute("**/goodput*")
    page.evaluate("htmx.trigger('#page', 'refresh')")
    expect(page.locator("#unreached")).to_be_hidden()
    assert visitor.complaints
    visitor.complaints.clear()


def test_a_session_that_ended_leads_to_the_login(visit: Visit, site: Site) -> None:
    page = visit().open()
    page.context.clear_cookies()
    page.evaluate("htmx.trigger('#page', 'refresh')")
    expect(page).to_have_url(f"{site.url}/login?next={GOODPUT}")


def test_the_switcher_leads_to_another_workspace_whose_commands_can_be_copied(visit: Visit, site: Site) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"]).open()
    page.locator("#switch summary").click()
    page.get_by_role("link", name="acme / empty room").click()
    expect(page.get_by_role("heading", name="Nothing has been counted here yet")).to_be_visible()
    page.locator("#connect").get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#connect-command").inner_text()
    assert f"{site.url}/v1/clusters/main/observations" in copied


def test_downloads_are_files(visit: Visit) -> None:
    page = visit().open(path=f"{GOODPUT}?by=pool")
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("link", name=kind, exact=True).click()
        assert download.value.suggested_filename.startswith("goodput-by-pool-")
        assert download.value.suggested_filename.endswith(f".{kind.lower()}")


def test_names_never_become_markup(visit: Visit, site: Site) -> None:
    page = visit().open()
    for by in ("machine", "pool", "user"):
        for show in ("bars", "numbers"):
            page.goto(f"{site.url}{GOODPUT}?by={by}&show={show}&q=document.title")
            page.locator("#rows tbody tr").first.get_by_role("link").first.click()
            where = ".chips" if by == "user" else "h1"
            expect(page.locator(where)).to_contain_text("document.title")
            assert page.locator("img").count() == 0
            assert page.title().endswith(" · vision · acme")
    page.goto(f"{site.url}{GOODPUT}?q=document.title")
    page.locator("#rows tbody tr").first.get_by_role("link").first.click()
    expect(page.locator("#timeline")).to_be_visible()
    assert page.locator("img").count() == 0
    assert page.title().endswith(" · vision · acme")


# --- without JavaScript ----------------------------------------------------------------------------------------


def test_everything_works_without_javascript(visit: Visit, site: Site) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.page
    page.goto(f"{site.url}{GOODPUT}")
    visitor.sign_in()
    page.locator("#tab-machine").click()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?by=machine")
    page.locator("#sort-held").click()
    expect(page).to_have_url(f"{site.url}{GOODPUT}?by=machine&sort=-held")
    page.get_by_label("Search machines").fill("gpu-")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#rows tbody tr")).to_have_count(5)
    page.locator("#custom summary").click()
    page.get_by_label("From UTC").fill("2026-01-05T00:00")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("Search machines")).to_have_value("gpu-")
    page.get_by_role("link", name="7 d").click()
    page.locator("#tab-run").click()
    page.locator("#next").click()
    expect(page).to_have_url(re.compile("page=2"))
    row = page.locator("#rows tbody tr").first
    row.locator(".where").hover()
    said = row.locator(".where").evaluate("(where) => getComputedStyle(where, '::after').display")
    assert said == "block", "its words show"
    page.locator("#switch summary").click()
    page.get_by_role("link", name="acme / empty room").click()
    expect(page.locator("#connect-command")).to_be_visible()
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{site.url}/login")


# --- for every eye and hand -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit: Visit, site: Site, axe: str, scheme: str) -> None:
    visitor = visit(color_scheme=scheme)
    page = visitor.page

    def check(what: str) -> None:
        found = page.evaluate(f"async () => {{ {axe}; return (await axe.run()).violations }}")
        assert [(what, rule["id"], [n["html"] for n in rule["nodes"]][:3]) for rule in found] == []

    page.goto(f"{site.url}/login")
    check("login")
    visitor.open()
    page.locator("#custom summary").click()
    page.locator("#meaning summary").click()
    page.locator("#rows tbody tr").nth(2).locator(".where").focus()
    check("bars")
    for query in ("?show=numbers&sort=-idle", "?by=machine&run=uid-llm&q=gpu", "?q=nothing+like+it"):
        page.goto(site.url + GOODPUT + query)
        check(query)
    page.goto(f"{site.url}/w/acme/empty%20room/goodput")
    check("empty")


@pytest.mark.parametrize("width", [320, 390, 800, 1100])
def test_no_width_scrolls_sideways(visit: Visit, width: int) -> None:
    page = visit(width=width).open()
    for query in ("", "?show=numbers", "?by=machine&sort=-idle"):
        page.goto(page.url.split("?")[0] + query)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("#custom summary", "#switch summary"):
        page.locator(name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_phone_a_tap_opens_the_rest_of_a_row(visit: Visit) -> None:
    page = visit(width=390, height=844, has_touch=True, is_mobile=True).open()
    row = page.locator("#rows tbody tr", has=page.get_by_role("link", name="llm", exact=True))
    expect(row.locator("td.held")).to_be_hidden()
    expect(row.locator("td.goodput")).to_be_visible()
    row.locator(".where").tap()
    expect(row.locator(".card")).to_be_visible()
    expect(row.locator(".card .sums")).to_contain_text("held")
    box = row.locator(".card").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_the_keyboard_reaches_everything(visit: Visit) -> None:
    page = visit().open()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="24 h")).to_be_focused()
    page.locator("#custom summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("From UTC")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#custom summary")).to_be_focused()
    expect(page.get_by_label("From UTC")).to_be_hidden()
    page.locator("#legend-idle").focus()
    expect(page.locator("#means-idle")).to_be_visible()
    page.locator("#sort-held").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sort=-held"))
    expect(page.locator("#sort-held")).to_be_focused()


def test_a_print_has_the_numbers_and_not_the_controls(visit: Visit) -> None:
    page = visit(width=700).open()
    page.emulate_media(media="print")
    expect(page.locator(".menu")).to_be_hidden()
    expect(page.locator(".search")).to_be_hidden()
    expect(page.locator("#rows")).to_be_visible()
    expect(page.locator("#figure-goodput")).to_be_visible()
    expect(page.locator("#row-total td.held")).to_be_visible()
