"""Django's admin: olga, an operator, gets in; ana, a member, and adam, an admin of acme, do not."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.models import (
    Administration,
    Change,
    Cluster,
    ClusterRule,
    Membership,
    Organization,
    Refused,
    Token,
    Workspace,
)
from tests.dashboards.conftest import Get
from tests.dashboards.world import World

MODELS = ("organization", "workspace", "cluster", "pool", "token", "refused", "change")
PLACES = ("", *(f"ledger/{model}/" for model in MODELS), "auth/user/")


@pytest.fixture
def olga(world: World) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="olga"))
    return client


def post(client: Client, path: str, **said: Any) -> Any:
    response = client.post(f"/admin/{path}", said)
    assert response.status_code in (200, 302), response.content
    errors = re.findall(r'class="errorlist[^>]*>(.*?)</ul>', response.content.decode(), re.DOTALL)
    assert not errors, errors
    return response


def inline(prefix: str, *users: User, **more: Any) -> dict[str, Any]:
    """A form's rows of people."""
    rows = {f"{prefix}-{number}-user": user.pk for number, user in enumerate(users)}
    return {f"{prefix}-TOTAL_FORMS": len(users), f"{prefix}-INITIAL_FORMS": 0, **rows, **more}


def last() -> Change:
    return Change.objects.latest("pk")


@pytest.mark.parametrize("path", PLACES)
def test_only_olga_gets_in(get: Get, olga: Client, path: str) -> None:
    assert olga.get(f"/admin/{path}").status_code == 200
    for who in ("ana", "adam"):
        assert get(f"/admin/{path}", who).status_code == 302
        assert get(f"/admin/{path}add/", who).status_code == 302
    assert Client().get(f"/admin/{path}").status_code == 302


def test_who_has_to_sign_in_does_so_at_the_one_door(get: Get, olga: Client) -> None:
    """There failures are counted; who is in already and is no operator is led home, not round and round."""
    away = Client().get("/admin/login/?next=/admin/")
    assert (away.status_code, away["Location"]) == (302, "/login?next=/admin/")
    assert get("/admin/login/", "ana", next="/admin/")["Location"] == "/"
    assert olga.get("/admin/login/?next=/admin/ledger/token/")["Location"] == "/admin/ledger/token/"
    assert olga.get("/admin/login/?next=https://elsewhere.example/")["Location"] == "/admin/"


def test_organizations_and_their_admins(world: World, olga: Client) -> None:
    adam = User.objects.get(username="adam")
    post(olga, "ledger/organization/add/", name="initech", **inline("administration_set", adam))
    assert Administration.objects.filter(organization__name="initech", user=adam).exists()
    assert (last().actor, last().what, last().detail) == ("olga", "admin_added", {"user": "adam"})
    organization = Organization.objects.get(name="initech")
    page = olga.get(f"/admin/ledger/organization/{organization.pk}/change/").content.decode()
    assert 'name="name"' not in page, "a name stays"
    assert olga.post(f"/admin/ledger/organization/{organization.pk}/delete/", {"post": "yes"}).status_code == 403
    refused = olga.post("/admin/ledger/organization/add/", {"name": "a\x07b", **inline("administration_set")})
    assert "control characters" in refused.content.decode()


def test_workspaces_and_their_members(world: World, olga: Client) -> None:
    ana, acme = User.objects.get(username="ana"), Organization.objects.get(name="acme")
    post(olga, "ledger/workspace/add/", organization=acme.pk, name="robots", **inline("membership_set", ana))
    robots = Workspace.objects.get(name="robots")
    member = Membership.objects.get(workspace=robots)
    assert (last().what, last().detail) == ("member_added", {"workspace": "robots", "user": "ana"})
    rows = inline("membership_set", ana, **{"membership_set-0-id": member.pk, "membership_set-0-workspace": robots.pk})
    rows |= {"membership_set-INITIAL_FORMS": 1, "membership_set-0-DELETE": "on"}
    post(olga, f"ledger/workspace/{robots.pk}/change/", **rows)
    assert not Membership.objects.filter(workspace=robots).exists()
    assert (last().actor, last().what) == ("olga", "member_removed")


def test_a_token_is_shown_once_and_revoked(world: World, olga: Client) -> None:
    acme = Organization.objects.get(name="acme")
    made = post(olga, "ledger/token/add/", organization=acme.pk, scopes=["read", "metrics"], days=30)
    (plain,) = re.findall(r"goodput_[0-9a-f]{64}", made.content.decode())
    assert "no-store" in made["Cache-Control"]
    token = Token.objects.get()
    assert (token.scopes, token.workspace, token.expiry is None) == (["read", "metrics"], None, False)
    assert (last().actor, last().what) == ("olga", "token_issued")
    assert Client().get("/v1/runs", headers={"Authorization": f"Bearer {plain}"}).status_code == 200
    for path in ("ledger/token/", f"ledger/token/{token.pk}/change/"):
        page = olga.get(f"/admin/{path}").content.decode()
        assert token.token_key in page
        assert plain not in page
    assert f"{token.digest[:20]}" not in olga.get(f"/admin/ledger/token/{token.pk}/change/").content.decode().replace(
        f"/{token.pk}/", "/"
    )
    post(olga, "ledger/token/", action="revoke", _selected_action=[token.pk])
    assert (last().actor, last().what) == ("olga", "token_revoked")
    assert Client().get("/v1/runs", headers={"Authorization": f"Bearer {plain}"}).status_code == 401


def test_a_token_is_not_of_another_organizations_workspace(world: World, olga: Client) -> None:
    elsewhere = Organization.objects.create(name="initech")
    vision = Workspace.objects.get(organization__name="acme", name="vision")
    answer = olga.post(
        "/admin/ledger/token/add/", {"organization": elsewhere.pk, "workspace": vision.pk, "scopes": ["read"]}
    )
    assert "not one of the organization" in answer.content.decode()
    assert not Token.objects.exists()


def test_thresholds_and_dated_settings_leave_the_clock_alone(world: World, olga: Client) -> None:
    cluster = Cluster.objects.get(organization__name="acme")
    page = f"ledger/cluster/{cluster.pk}/change/"
    assert 'value="5"' in olga.get(f"/admin/{page}").content.decode()
    said = {"auto_workspaces": "on", "busy": "7.5", "stall": "20", "carry": "5", "readings": "none", "unmeasured": ""}
    post(olga, page, **said)
    after = Cluster.objects.get(pk=cluster.pk)
    assert (after.busy_threshold_milli_percent, after.stall_after_ms, after.carry_max_ms) == (7_500, 1_200_000, 300_000)
    assert after.open_hour == cluster.open_hour
    rule = ClusterRule.objects.filter(cluster=cluster).latest("since")
    assert (rule.readings_expected, rule.since > cluster.open_hour) == (False, True)
    assert {change.actor for change in Change.objects.filter(what="cluster_changed")} == {"olga"}
    assert "readings none" in olga.get(f"/admin/{page}").content.decode()


def test_people_and_who_of_them_is_an_operator(world: World, olga: Client) -> None:
    ana = User.objects.get(username="ana")
    post(olga, f"auth/user/{ana.pk}/change/", username="ana", is_active="on", is_staff="on")
    assert User.objects.get(pk=ana.pk).is_staff
    assert (last().actor, last().what, last().detail["changed"]) == ("olga", "user_changed", {"is_staff": True})


@pytest.mark.parametrize("model", ["pool", "refused", "change"])
def test_what_sources_and_the_log_say_is_only_read(world: World, olga: Client, model: str) -> None:
    Refused.objects.create(
        cluster=world.east,
        received_at="2026-01-01T00:00Z", source="s", list="workers", index=0, field="at", error="future", item={},
    )  # fmt: skip
    post_of = olga.get(f"/admin/ledger/{model}/").content.decode()
    (first, *_) = re.findall(rf"/admin/ledger/{model}/(\d+)/change/", post_of)
    assert olga.get(f"/admin/ledger/{model}/{first}/change/").status_code == 200
    for path in ("add/", f"{first}/delete/"):
        assert olga.post(f"/admin/ledger/{model}/{path}", {"post": "yes"}).status_code == 403
    assert olga.post(f"/admin/ledger/{model}/{first}/change/", {"name": "x"}).status_code == 403
