"""Forms that name what is another workspace's or another organization's: nothing happens, as with what is not."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger import members, tokens
from ledger.models import Administration, Channel, Cluster, Invitation, Membership, Pool, Price, Token
from tests.alerts.test_seen import alert, quick, world
from tests.dashboards.world import World

__all__ = ["quick", "world"]
pytestmark = pytest.mark.django_db
ROOM, HOUSE, EAST = "/w/acme/vision", "/organizations/acme/settings", "/organizations/acme/clusters/east/settings"


@pytest.fixture
def adam(world: World) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="adam"))
    return client


def everything() -> list[Any]:
    """All that the forms could change."""
    return [list(model.objects.order_by("pk").values()) for model in
            (Token, Invitation, Membership, Administration, Channel, Price)]  # fmt: skip


def said(client: Client, path: str, form: dict[str, Any]) -> tuple[int, list[str]]:
    """The status of an answer, and what the next page says of it."""
    answer = client.post(path, form, follow=True)
    return answer.status_code, [str(message) for message in (answer.context or {}).get("messages", [])]


def test_forms_do_nothing_to_what_is_anothers(world: World, adam: Client) -> None:
    globex, acme = world.hidden.organization, world.vision.organization
    for organization, workspace in ((globex, world.hidden), (globex, None), (acme, world.speech)):
        plain = tokens.issue(organization, workspace, ["read"], 30)
        members.invite(organization, workspace, "eve")
        invitation = Invitation.objects.latest("pk").pk
        channel = Channel.objects.create(
            workspace=workspace or world.hidden, kind="email", name=str(workspace), target="e@x.io"
        )
        forms = [
            (f"{ROOM}/settings", {"action": "withdraw", "invitation": invitation}, {"invitation": 10**9}),
            (f"{ROOM}/settings", {"action": "revoke", "token": plain[:15]}, {"token": "x"}),
            (f"{ROOM}/settings", {"action": "remove", "name": "eve"}, {"name": "nobody"}),
            (f"{ROOM}/settings", {"action": "remove", "name": "sol"}, {"name": "nobody"}),
            (HOUSE, {"action": "withdraw", "invitation": invitation}, {"invitation": 10**9}),
            (HOUSE, {"action": "remove", "name": "eve"}, {"name": "nobody"}),
            (f"{ROOM}/settings/notifications", {"action": "remove", "channel": channel.pk}, {"channel": 10**9}),
            (f"{ROOM}/settings/notifications", {"action": "test", "channel": channel.pk}, {"channel": 10**9}),
        ]
        if organization == globex:
            forms.append((HOUSE, {"action": "revoke", "token": plain[:15]}, {"token": "x"}))
        before = everything()
        for path, form, unknown in forms:
            assert said(adam, path, form) == said(adam, path, form | unknown)
        assert everything() == before


def test_no_price_is_set_and_no_alert_silenced_that_is_anothers(world: World, adam: Client) -> None:
    theirs = Cluster.objects.create(organization=world.hidden.organization, name="east")
    pool = Pool.objects.create(cluster=theirs, name="h100")
    before = everything()
    form = {"action": "prices", "since": "2026-11-01"}
    assert said(adam, EAST, form | {f"pool-{pool.pk}": "1"}) == said(adam, EAST, form | {"pool-1000000": "1"})
    assert everything() == before
    fired = alert(theirs, world.hidden)
    for action in ("acknowledge", "silence"):
        form = {"action": action, "hours": "8"}
        assert said(adam, f"{ROOM}/alerts", form | {"alert": fired.pk})[0] == 404
    fired.refresh_from_db()
    assert (fired.acknowledged_at, fired.silenced_until) == (None, None)
