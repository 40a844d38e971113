"""Log goodput and the tester of log profiles in a browser, light and dark, wide and narrow."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from ledger.models import Measurement
from tests.browser.conftest import Site, Visit
from tests.dashboards.shipped import STEP, ship

LLM = "/w/acme/vision/runs/uid-llm"
PROFILES = "/w/acme/vision/log-profiles"


@pytest.fixture
def shipped(site: Site, visit: Visit) -> Iterator[None]:
    run = ship("uid-llm", site.world.now)
    yield
    Measurement.objects.filter(run=run).delete()


def test_the_steps_are_drawn_and_the_profile_is_a_link(visit: Visit, shipped: None) -> None:
    page = visit().open(path=LLM)
    expect(page.locator("#log-goodput .falls tbody tr")).to_have_count(6)
    expect(page.locator("#log-goodput .graph.steps polyline")).to_have_count(2)
    page.locator("#log-goodput details.breaks summary").click()
    expect(page.locator("#log-goodput details.breaks li")).to_have_count(1)
    page.locator("#log-goodput .bench a").click()
    expect(page).to_have_url(re.compile("/log-profiles/maxtext$"))


def test_lines_are_tried_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit().open(path=PROFILES, name="adam")
    page.get_by_role("link", name="maxtext").click()
    page.get_by_role("textbox", name="Try it on lines of a log").fill(
        f"2026-10-01T12:00:00Z {STEP.format(7, 1.5, 130)}"
    )
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#tried")).to_contain_text("globalStep=7")
    expect(page.get_by_role("textbox", name="Try it on lines of a log")).to_have_value(re.compile("completed step: 7"))
