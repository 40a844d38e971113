"""Alerts and notifications in a browser: acknowledged, silenced, a channel added; wide and narrow, light and dark."""

import os
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from ledger.models import Alert
from tests.browser.conftest import Site, Visit

ALERTS = "/w/acme/vision/alerts"
CHANNELS = "/w/acme/vision/settings/notifications"
DROP = {"held": 36_000, "productive": 14_760, "day_held": 864_000, "day_productive": 675_648}


@pytest.fixture
def alert(site: Site, visit: Visit) -> Any:
    """A drop that fires, and one that is over."""
    east, moment = site.world.east, "2026-10-01T13:00:00Z"
    fields = {"cluster": east, "workspace": site.world.vision, "rule": "goodput_drop", "name": "vision", "hour": moment}
    over = {"subject": "over", "resolved_at": "2026-10-01T18:00:00Z"}
    Alert.objects.create(**fields, told_at=moment, fired_at=moment, detail=DROP, **over)
    yield Alert.objects.create(**fields, told_at=moment, fired_at=moment, detail=DROP, subject="firing")
    Alert.objects.all().delete()


@pytest.mark.parametrize("scripts", [True, False])
def test_an_alert_is_acknowledged_and_silenced(visit: Visit, alert: Alert, scripts: bool) -> None:
    page = visit(java_script_enabled=scripts).open()
    expect(page.locator("#firing")).to_contain_text("Goodput of workspace vision on east was 41.0 %")
    page.locator("#firing a").click()
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.locator("#firing")).to_contain_text("ana knows since")
    page.get_by_label("Send nothing for").select_option("8")
    page.get_by_role("button", name="Silence").click()
    expect(page.locator("#firing")).to_contain_text("silenced until")


def test_a_channel_is_added(visit: Visit, alert: Alert) -> None:
    page = visit().open(path=CHANNELS, name="adam")
    page.get_by_label("How").select_option("webhook")
    page.get_by_label("Name").fill("pager")
    page.get_by_label("Where to").fill("https://hooks.example/x")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#secret")).to_have_text(re.compile("^[0-9a-f]{64}$"))
    page.get_by_role("button", name="Test pager").click()
    expect(page.locator("main")).to_contain_text("A test is on its way")
    page.get_by_role("button", name="Remove pager").click()
    expect(page.locator("main")).to_contain_text("Nobody is told yet")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [ALERTS, CHANNELS])
def test_axe_finds_nothing(visit: Visit, alert: Alert, axe: str, path: str, scheme: str) -> None:
    for width in (1280, 390):
        page = visit(width=width, color_scheme=scheme).open(path=path, name="adam")
        page.evaluate(axe)
        found = page.evaluate("axe.run().then(r => r.violations.map(v => v.id + ' ' + v.nodes.map(n => n.target)))")
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=f"{folder}/{path.rsplit('/', 1)[1]}-{scheme}-{width}.png", full_page=True)
        assert found == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
