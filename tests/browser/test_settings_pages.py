"""Settings in a browser: by keyboard, without JavaScript, on a phone, in the dark."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

WORKSPACE = "/w/acme/vision/settings"
ORGANIZATION = "/organizations/acme/settings"
CLUSTER = "/organizations/acme/clusters/east/settings"


def test_a_token_is_made_by_keyboard_and_shown_once(visit: Visit) -> None:
    page = visit().open(path=WORKSPACE)
    page.get_by_text("Make a token").first.focus()
    page.keyboard.press("Enter")
    page.get_by_label("metrics:").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Make a token").focus()
    page.keyboard.press("Enter")
    once = page.locator("#token code")
    expect(once).to_have_text(re.compile("^goodput_[0-9a-f]{64}$"))
    text = once.inner_text()
    expect(page.locator("table.settings tr", has_text=text[:15])).to_contain_text("read, metrics")
    page.goto(page.url.split("#")[0])
    expect(page.locator("#token")).to_have_count(0)
    page.locator("table.settings tr", has_text=text[:15]).get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_contain_text("lets nobody in any more")
    expect(page.locator("table.settings tr", has_text=text[:15])).to_have_count(0)


def test_an_admin_lets_somebody_in_without_javascript(visit: Visit) -> None:
    page = visit(java_script_enabled=False).open(path=WORKSPACE, name="adam")
    page.get_by_role("button", name="Invite a member").click()
    address = page.locator("#invitation code").inner_text()
    visitor = visit(java_script_enabled=False, width=390)
    guest = visitor.page
    guest.goto(address)
    expect(guest.locator("main")).to_contain_text("adam invites you to the workspace acme / vision")
    guest.get_by_label("Name").fill("gus")
    guest.get_by_label("Password", exact=True).fill("a-long-enough-password")
    guest.get_by_label("Password again").fill("a-long-enough-password")
    guest.get_by_role("button", name="Make the account and join").click()
    expect(guest.locator("h1")).to_contain_text("Goodput")
    page.goto(page.url)
    page.get_by_role("button", name="Remove gus").click()
    expect(page.get_by_role("status")).to_have_text("gus is out.")
    gone = guest.goto(guest.url)
    assert gone
    assert gone.status == 404
    visitor.complaints.clear()  # the browser says that the page was not found


def test_a_mistake_is_said_beside_its_field_and_nothing_typed_is_lost(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open(path=CLUSTER, name="adam")
    page.get_by_label("Stalled after (minutes)").fill("30")
    page.locator("[name=busy]").evaluate("field => field.removeAttribute('max')")
    page.get_by_label("Busy from (%)").fill("140")
    page.get_by_role("button", name="Save").first.click()
    said = page.locator(".field", has_text="Busy from").get_by_role("alert")
    expect(said).to_have_text("Ensure this value is less than or equal to 100.")
    expect(page.get_by_label("Stalled after (minutes)")).to_have_value("30")
    visitor.complaints.clear()  # the browser says that the answer was 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit: Visit, axe: str, scheme: str) -> None:
    for width in (1440, 390):
        visitor = visit(width=width, color_scheme=scheme)
        for path in (WORKSPACE, ORGANIZATION, CLUSTER, "/you"):
            page = visitor.open(path=path, name="adam")
            page.evaluate(axe)
            found = page.evaluate("axe.run().then(({ violations }) => violations)")
            assert [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found] == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
