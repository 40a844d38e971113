"""The page of channels: who reads it, who changes it, and what it never shows."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from ledger.models import Change, Channel, Delivery
from tests.alerts.test_seen import as_somebody, quick, world
from tests.dashboards.world import World

__all__ = ["quick", "world"]
PATH = "/w/acme/vision/settings/notifications"
HOOK = {"action": "add", "kind": "webhook", "name": "pager", "target": "https://hooks.example/s3cret?x=1"}
SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")]


def post(who: str, **form: Any) -> Any:
    return as_somebody(who).post(PATH, form)


@pytest.mark.parametrize(
    ("who", "read", "write"), [("ana", 200, 404), ("adam", 200, 200), ("olga", 200, 200), ("sol", 404, 404)]
)
def test_members_read_and_who_runs_the_organization_changes(world: World, who: str, read: int, write: int) -> None:
    assert as_somebody(who).get(PATH).status_code == read
    assert post(who, **HOOK).status_code == write
    assert Channel.objects.count() == (write == 200)


def test_a_webhooks_secret_is_shown_once_and_its_address_never(world: World) -> None:
    said = post("adam", **HOOK).content.decode()
    secret = Channel.objects.get().secret
    assert secret in said
    assert len(secret) == 64
    later = as_somebody("adam").get(PATH).content.decode()
    assert secret not in later
    assert "s3cret" not in later
    assert "https://hooks.example/…" in later
    assert [change.what for change in Change.objects.filter(what__startswith="channel")] == ["channel_added"]


@pytest.mark.parametrize(
    ("kind", "target", "status"),
    [
        ("email", "ana@example.com", 302),
        ("email", "ana", 400),
        ("email", "ana@example.com\nBcc: x@example.com", 400),
        ("webhook", "https://hooks.example/x", 200),
        ("webhook", "ftp://hooks.example/x", 400),
        ("webhook", "https://user:pass@hooks.example/", 400),
        ("service", SLACK, 302),
        ("service", "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", 302),
        ("service", "json://127.0.0.1/x", 400),
        ("service", "mailto://u:p@127.0.0.1", 400),
        ("service", "https://hooks.slack.com.evil.example/services/a/b/c", 400),
        ("service", "slack://", 400),
        ("service", "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?verify=no", 400),
        ("service", "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?rto=86400", 400),
        ("service", "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js?cto=86400", 400),
        ("service", "discord://[x/JHMHI8qBe7bk2ZwO5U711o3dV_js", 400),
        ("webhook", "https://hooks.example/ü", 400),
        ("webhook", "https://[::1", 400),
        ("webhook", "http://hooks.example/x", 400),
        ("webhook", "https://hooks.example:8080/x", 400),
        ("webhook", "https://hooks.example:8443/x", 200),
        ("webhook", "https://10.0.0.1/x", 400),
        ("webhook", "https://127.1/x", 400),
        ("webhook", "https://localhost/x", 400),
        ("pigeon", "x", 400),
    ],
)
def test_what_a_channel_may_be(world: World, kind: str, target: str, status: int) -> None:
    assert post("adam", action="add", kind=kind, name="one", target=target).status_code == status
    assert Channel.objects.count() == (status != 400)


def test_an_address_that_may_not_be_reached_is_refused_at_once_and_says_why(world: World) -> None:
    for target, why in [
        ("https://192.168.0.7/x", "The address is not a public one; the operator can allow its network."),
        ("http://hooks.example/x", "The address must begin with https://."),
        ("https://hooks.example:22/x", "The port must be one of 443, 8443."),
    ]:
        assert why in post("adam", **HOOK | {"target": target}).content.decode()
    assert not Channel.objects.exists()


def test_what_the_operator_allowed_may_be_a_channel(world: World, settings: Settings) -> None:
    settings.NOTIFY_NETWORKS = ["10.1.0.0/16"]
    assert post("adam", **HOOK | {"target": "http://10.1.0.7:9000/x"}).status_code == 200
    assert post("adam", **HOOK | {"name": "other", "target": "http://10.2.0.7:9000/x"}).status_code == 400


def test_pools_are_names_with_commas(world: World) -> None:
    post("adam", **HOOK, pools=" h100, a100,,", clusters="on", digest="on")
    made = Channel.objects.get()
    assert (made.pools, made.clusters, made.digest) == (["h100", "a100"], True, False)


def test_two_of_one_name(world: World) -> None:
    post("adam", **HOOK)
    said = post("adam", **HOOK)
    assert (said.status_code, Channel.objects.count()) == (400, 1)
    assert "There is a channel of this name already." in said.content.decode()


def test_a_test_and_what_became_of_it(world: World) -> None:
    post("adam", **HOOK)
    made = Channel.objects.get()
    assert post("adam", action="test", channel=made.pk).status_code == 302
    Delivery.objects.update(dead_at="2026-11-01T00:00:00Z", attempts=8, error="the other side answered 503")
    page = as_somebody("ana").get(PATH).content.decode()
    assert "given up after 8 attempts: the other side answered 503" in page


def test_tests_do_not_fill_the_outbox(world: World) -> None:
    post("adam", **HOOK)
    made = Channel.objects.get()
    for _ in range(3):
        assert post("adam", action="test", channel=made.pk).status_code == 302
    assert Delivery.objects.count() == 1
    Delivery.objects.update(sent_at="2026-11-01T00:00:00Z")
    post("adam", action="test", channel=made.pk)
    assert Delivery.objects.count() == 2


def test_removing_one_takes_what_it_was_to_tell_along(world: World) -> None:
    post("adam", **HOOK)
    made = Channel.objects.get()
    post("adam", action="test", channel=made.pk)
    assert post("adam", action="remove", channel=made.pk).status_code == 302
    assert (Channel.objects.count(), Delivery.objects.count()) == (0, 0)


@pytest.mark.parametrize("action", ["test", "remove"])
def test_a_channel_of_another_workspace_is_none(world: World, action: str) -> None:
    theirs = Channel.objects.create(workspace=world.speech, kind="email", name="x", target="a@example.com")
    assert post("adam", action=action, channel=theirs.pk).status_code == 404
    assert post("adam", action="anything").status_code == 404
    assert Channel.objects.filter(pk=theirs.pk).exists()


def test_a_form_without_its_token_is_refused(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="adam"))
    assert client.post(PATH, HOOK).status_code == 403
