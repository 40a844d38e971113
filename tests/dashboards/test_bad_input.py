"""Forms of the settings, of alerts and of log profiles, filled in with what means harm: each is answered."""

import html
import json
import re
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.transaction import TransactionManagementError
from django.test import Client

from ledger import viewers
from ledger.models import Pool
from tests.alerts.test_seen import quick, world
from tests.dashboards.world import World

__all__ = ["quick", "world"]

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")]
ROOM, EAST = "/w/acme/vision", "/organizations/acme/clusters/east"
FORMS: dict[str, tuple[dict[str, Any], ...]] = {
    f"{ROOM}/settings": (
        {"action": "invite"},
        {"action": "withdraw", "invitation": "1"},
        {"action": "remove", "name": "ana"},
        {"action": "issue", "scopes": "read", "days": "90"},
        {"action": "revoke", "token": "x"},
    ),
    "/organizations/acme/settings": (
        {"action": "currency", "currency": "USD"},
        {"action": "remove", "name": "ana"},
        {"action": "revoke", "token": "x"},
        {"action": "withdraw", "invitation": "1"},
    ),
    f"{EAST}/settings": (
        {
            "action": "thresholds", "busy": "5", "stall": "10", "carry": "5", "drop_below": "50", "drop_points": "20",
            "drop_held": "1", "unmeasured": "productive", "readings": "expected",
        },
        {"action": "prices", "since": "2026-10-01", "pool": "1"},
    ),
    f"{ROOM}/settings/notifications": (
        {"action": "add", "kind": "webhook", "name": "pager", "target": "https://hooks.example/x", "pools": "a,b"},
        {"action": "add", "kind": "service", "name": "s", "target": "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"},
        {"action": "add", "kind": "email", "name": "m", "target": "a@example.com"},
        {"action": "remove", "channel": "1"},
        {"action": "test", "channel": "1"},
    ),
    f"{ROOM}/alerts": (
        {"action": "acknowledge", "alert": "1"},
        {"action": "silence", "alert": "1", "hours": "8"},
    ),
    f"{ROOM}/log-profiles/maxtext": (
        {"action": "try", "text": "a: 1", "lines": "x"},
        {"action": "save", "text": "a: 1", "lines": "x"},
        {"action": "retire"},
    ),
    "/you": ({"action": "zone", "zone": "Europe/Paris"},),
}  # fmt: skip
BAD: tuple[Any, ...] = (
    "", "a\0b", "-1", "1e400", "NaN", "9" * 19, "x" * 10_000, "²", b"\xed\xa0\x80", "../a/b", "\u202e\u2028",
    "<script>alert(1)</script>", "https://[::1", "0001-01-01", "9999-12-31",
)  # fmt: skip
PROFILE = '{{spec: {{timestamp: {{layout: RFC3339}}, patterns: {{trainingStep: {{regex: "a"}}}}}}, metadata: {}}}'
DOCUMENTS = (
    *("a: !!int ''", "a: !!int '-'", "a: !!float ''", "a: !!bool x", "a: !!timestamp x", "a: 0x" + "f" * 5_000),
    *(PROFILE.format(of) for of in (
        r'{name: "a\0b"}', r'{name: "\ud800"}', "{name: m, labels: {a: .nan, b: .inf, 1: 2}}",
        r'{name: m, labels: {a: "\0"}}',
        r'{name: m, labels: {"\ud800": "\udfff"}}', "{name: " + "n" * 300 + "}",
        "{name: a/b%2F}", "{name: m, labels: 0x" + "f" * 5_000 + "}",
        "{name: m, labels: !!binary aaaa}", "{name: m, labels: !!set {a, b}}",
    )),
)  # fmt: skip


@pytest.fixture
def page(world: World) -> Client:
    """The browser of one who may do all, in a zone that is behind UTC, at pages on which there is a pool."""
    Pool.objects.create(cluster=world.east, name="h100")
    adam = User.objects.get(username="adam")
    viewers.set_zone(adam, "America/New_York")
    client = Client(raise_request_exception=False)
    client.force_login(adam)
    return client


def filled(path: str, world: World) -> list[dict[str, Any]]:
    """The forms of a page, with the ids of things that there are."""
    pool = f"pool-{Pool.objects.get(cluster=world.east).pk}"
    return [{pool if name == "pool" else name: said for name, said in form.items()} for form in FORMS[path]]


@pytest.mark.parametrize("path", FORMS)
def test_every_field_takes_anything(world: World, page: Client, path: str) -> None:
    wrong = []
    for form in filled(path, world):
        for field in form:
            for bad in (*BAD, *(DOCUMENTS if field == "text" else ())):
                with suppress(TransactionManagementError), transaction.atomic():
                    status = page.post(path, form | {field: bad}).status_code
                    if status >= 500:
                        wrong.append((form["action"], field, str(bad)[:80], status))
                        transaction.set_rollback(True)
        after = page.get(path)
        if after.status_code != 200 or b"<script>alert(1)" in after.content:
            wrong.append((form["action"], "", "the page afterwards", after.status_code))
    assert wrong == []


PARTS = ["a%00b", "%2e%2e", "%252e", "a%2Fb", "x" * 3_000, "%ff", "%ED%A0%80", "%E2%80%AE", "[", "%0a"]
SHAPES = [
    "/w/{}/vision/settings",
    "/w/acme/{}/settings",
    "/w/acme/{}/settings/notifications",
    "/w/acme/{}/alerts",
    "/w/acme/vision/log-profiles/{}",
    "/w/acme/{}/log-profiles",
    "/organizations/{}/settings",
    "/invitations/{}",
    "/organizations/acme/clusters/{}/settings",
    "/w/acme/vision/machines/{}",
    "/w/acme/vision/pools/{}",
    "/w/acme/vision/runs/{}",
    "/organizations/acme/clusters/{}/machines",
    "/organizations/acme/clusters/east/machines/{}",
    "/organizations/acme/clusters/east/pools/{}",
]


def test_every_address_takes_any_name(page: Client) -> None:
    got = {(shape, part): page.get(shape.format(part)).status_code for shape in SHAPES for part in PARTS}
    assert {asked: status for asked, status in got.items() if status != 404} == {}


def test_a_profile_of_any_name_has_a_page(page: Client) -> None:
    for name in ("a/b%2F", "..", "50% off?#", "<b>"):
        text = PROFILE.format(json.dumps({"name": name}))
        kept = page.post(f"{ROOM}/log-profiles/maxtext", {"action": "save", "text": text, "lines": ""}, follow=True)
        assert kept.status_code == 200
        assert html.escape(f"{name} is kept as version 1.") in kept.content.decode()
        links = re.findall(
            r'href="(/w/acme/vision/log-profiles/[^"]+)"', page.get(f"{ROOM}/log-profiles").content.decode()
        )
        assert all(page.get(link).status_code == 200 for link in links)
