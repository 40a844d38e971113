"""The settings of workspaces and organizations: who may look, who may change what, and what is shown once."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client

from ledger import members, tokens
from ledger.models import Administration, Change, Invitation, Membership, Token
from tests.dashboards.reading import read, text_of
from tests.dashboards.world import PASSWORD, World

WORKSPACE = "/w/acme/vision/settings"
ORGANIZATION = "/organizations/acme/settings"


def client_of(who: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=who))
    return client


def post(who: str, path: str, action: str, **fields: Any) -> Any:
    return client_of(who).post(path, {"action": action, **fields}, follow=True)


def once(response: Any, identity: str) -> str:
    """The text that is shown once."""
    return read(response).by_id(identity).of("code")[0].text


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        ("ana", WORKSPACE, 200), ("adam", WORKSPACE, 200), ("olga", WORKSPACE, 200),
        ("sol", WORKSPACE, 404), ("eve", WORKSPACE, 404), ("nora", WORKSPACE, 404),
        ("ana", ORGANIZATION, 404), ("adam", ORGANIZATION, 200), ("olga", ORGANIZATION, 200),
        ("eve", ORGANIZATION, 404), ("nora", ORGANIZATION, 404),
    ],
)  # fmt: skip
def test_who_may_look(world: World, who: str, path: str, status: int) -> None:
    assert client_of(who).get(path).status_code == status


def test_a_workspace_names_its_admins_and_members(world: World) -> None:
    page = read(client_of("ana").get(WORKSPACE))
    rows = [[cell.text for cell in row.of("th", "td")] for row in page.of("tbody")[0].of("tr")]
    assert rows == [["adam", "admin of acme", ""], ["ana you", "member", ""]]
    rows = [row.text for row in read(client_of("adam").get(WORKSPACE)).of("tbody")[0].of("tr")]
    assert rows == ["adam you admin of acme", "ana member Remove ana"]


# --- members ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["invite", "withdraw", "remove"])
def test_a_member_changes_no_members(world: World, action: str) -> None:
    assert post("ana", WORKSPACE, action, name="ana", invitation="1").status_code == 404
    assert [member.name for member in members.members_of(world.vision)] == ["adam", "ana"]
    assert Invitation.objects.count() == 0


def test_an_invitation_lets_one_person_in_with_a_new_account(world: World) -> None:
    address = once(post("adam", WORKSPACE, "invite"), "invited")
    assert address not in client_of("adam").get(WORKSPACE).content.decode()
    path = "/" + address.split("/", 3)[3]
    visitor = Client()
    assert "adam invites you to the workspace acme / vision" in text_of(visitor.get(path), "page")
    account = {"username": "nell", "password1": "long-enough-words", "password2": "long-enough-words"}
    answer = visitor.post(path, account)
    assert (answer.status_code, answer["Location"]) == (302, "/w/acme/vision/goodput")
    assert visitor.get("/w/acme/vision/goodput").status_code == 200
    assert Client().get(path).status_code == 404
    assert client_of("sol").post(path).status_code == 404
    assert not Membership.objects.filter(user__username="sol", workspace=world.vision).exists()


def test_an_invitation_lets_in_who_has_an_account(world: World) -> None:
    path = "/" + once(post("adam", WORKSPACE, "invite"), "invited").split("/", 3)[3]
    nora = client_of("nora")
    assert "Join as nora" in text_of(nora.get(path), "page")
    assert nora.get("/w/acme/vision/goodput").status_code == 404
    assert nora.post(path)["Location"] == "/w/acme/vision/goodput"
    assert nora.get("/w/acme/vision/goodput").status_code == 200
    assert Invitation.objects.get().used_by == "nora"


def test_an_account_with_a_bad_password_or_a_name_that_is_taken_uses_no_invitation(world: World) -> None:
    path = "/" + once(post("adam", WORKSPACE, "invite"), "invited").split("/", 3)[3]
    for name, first, second in [("ana", "long-enough-words", "long-enough-words"), ("nell", "12345678", "12345678"),
                                ("nell", "long-enough-words", "another-of-them")]:  # fmt: skip
        answer = Client().post(path, {"username": name, "password1": first, "password2": second})
        assert answer.status_code == 400
    assert Client().get(path).status_code == 200
    assert not User.objects.filter(username="nell").exists()


@pytest.mark.parametrize("how", ["withdrawn", "expired", "unknown"])
def test_an_invitation_that_is_over_answers_like_one_that_never_was(world: World, how: str) -> None:
    path = "/" + once(post("adam", WORKSPACE, "invite"), "invited").split("/", 3)[3]
    if how == "withdrawn":
        (waiting,) = members.invitations_of(world.vision.organization, world.vision)
        assert post("adam", WORKSPACE, "withdraw", invitation=waiting.pk).status_code == 200
    elif how == "expired":
        Invitation.objects.update(expires_at=Now() - timedelta(seconds=1))
    else:
        path += "x"
    over, never = Client().get(path), Client().get("/invitations/never")
    assert (over.status_code, over.content) == (404, never.content)


def test_a_member_who_is_removed_is_out_with_the_next_request(world: World) -> None:
    ana = client_of("ana")
    assert ana.get("/w/acme/vision/goodput").status_code == 200
    assert "ana is out." in post("adam", WORKSPACE, "remove", name="ana").content.decode()
    assert ana.get("/w/acme/vision/goodput").status_code == 404


def test_the_last_admin_stays(world: World) -> None:
    page = post("adam", ORGANIZATION, "remove", name="adam")
    assert "adam is the only admin; invite another one first." in page.content.decode()
    path = "/" + once(post("adam", ORGANIZATION, "invite"), "invited").split("/", 3)[3]
    assert client_of("nora").post(path)["Location"] == "/"
    assert "adam is out." in post("nora", ORGANIZATION, "remove", name="adam").content.decode()
    assert client_of("adam").get(ORGANIZATION).status_code == 404
    assert [admin.user.username for admin in Administration.objects.filter(organization__name="acme")] == ["nora"]


def test_an_admin_of_another_organization_changes_nothing_here(world: World) -> None:
    for action in ("invite", "withdraw", "remove", "issue", "revoke", "currency"):
        for path in (WORKSPACE, ORGANIZATION):
            assert post("eve", path, action, name="ana", scopes="read", days="30").status_code == 404
    assert not Invitation.objects.exists()
    assert not Token.objects.exists()


# --- tokens -------------------------------------------------------------------------------------------------


def test_a_member_makes_a_token_that_reads_their_workspace(world: World) -> None:
    made = post("ana", WORKSPACE, "issue", scopes="read", days="30")
    plain = once(made, "token")
    assert "no-store" in made["Cache-Control"]
    answer = Client().get("/v1/goodput", headers={"Authorization": f"Bearer {plain}"})
    assert answer.status_code == 200
    assert "choir" not in answer.content.decode()
    again = client_of("ana").get(WORKSPACE).content.decode()
    assert plain not in again
    assert plain[:15] in again


@pytest.mark.parametrize(("scopes", "days"), [("ingest", 30), ("admin", 30), ("read", 0), ("", 30), ("read", 7)])
def test_a_member_makes_no_other_token(world: World, scopes: str, days: int) -> None:
    page = post("ana", WORKSPACE, "issue", scopes=scopes, days=str(days))
    assert page.status_code == 400
    assert read(page).of("details")[-1].attributes.get("open") is not None
    assert Token.objects.count() == 0


def test_an_admin_makes_every_token_and_a_member_ends_only_what_a_member_can_make(world: World) -> None:
    plain = once(post("adam", WORKSPACE, "issue", scopes=["read", "ingest"], days="0"), "token")
    post("ana", WORKSPACE, "revoke", token=plain[:15])
    assert Token.objects.count() == 1
    assert "lets nobody in any more" in post("adam", WORKSPACE, "revoke", token=plain[:15]).content.decode()
    assert Token.objects.count() == 0
    mine = once(post("ana", WORKSPACE, "issue", scopes="read", days="90"), "token")
    post("ana", WORKSPACE, "revoke", token=mine[:15])
    assert Client().get("/v1/goodput", headers={"Authorization": f"Bearer {mine}"}).status_code == 401


def test_tokens_of_another_workspace_are_neither_seen_nor_ended(world: World) -> None:
    plain = tokens.issue(world.speech.organization, world.speech, ["read"], 30)
    assert plain[:15] not in client_of("ana").get(WORKSPACE).content.decode()
    post("ana", WORKSPACE, "revoke", token=plain[:15])
    post("adam", WORKSPACE, "revoke", token=plain[:15])
    assert Token.objects.count() == 1
    assert plain[:15] in client_of("adam").get(ORGANIZATION).content.decode()


def test_every_change_is_in_the_audit_log_with_who_made_it(world: World) -> None:
    Change.objects.all().delete()
    plain = once(post("ana", WORKSPACE, "issue", scopes="read", days="30"), "token")
    post("adam", WORKSPACE, "revoke", token=plain[:15])
    path = "/" + once(post("adam", WORKSPACE, "invite"), "invited").split("/", 3)[3]
    client_of("nora").post(path)
    post("adam", WORKSPACE, "remove", name="nora")
    post("adam", ORGANIZATION, "currency", currency="EUR")
    said = [(change.actor, change.what, change.organization or change.detail.get("organization"))
            for change in Change.objects.order_by("pk")]  # fmt: skip
    assert said == [
        ("ana", "token_issued", "acme"),
        ("adam", "token_revoked", "acme"),
        ("adam", "invited", "acme"),
        ("nora", "member_added", "acme"),
        ("adam", "member_removed", "acme"),
        ("adam", "organization_changed", "acme"),
    ]
    assert plain not in str(list(Change.objects.values()))


@pytest.mark.parametrize("path", [WORKSPACE, ORGANIZATION, "/organizations/acme/clusters/east/settings", "/you"])
def test_settings_are_changed_with_a_csrf_token_only(world: World, path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.login(username="adam", password=PASSWORD)
    assert client.post(path, {"action": "issue", "scopes": "read", "days": "30"}).status_code == 403


def test_settings_pages_allow_nothing_inline(world: World) -> None:
    for path in (WORKSPACE, ORGANIZATION, "/organizations/acme/clusters/east/settings", "/you"):
        text = client_of("adam").get(path).content.decode()
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?! src=)", text), path


@pytest.mark.parametrize("currency", ["", "US", "DOLLAR", "usd1", "<b>"])
def test_a_currency_is_three_capitals(world: World, currency: str) -> None:
    page = post("adam", ORGANIZATION, "currency", currency=currency)
    assert page.status_code == 400
    world.vision.organization.refresh_from_db()
    assert world.vision.organization.currency == "USD"
