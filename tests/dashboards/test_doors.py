"""Who gets in where. What a person may not see answers exactly like what does not exist."""

import re
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from dashboards import throttle
from ledger.models import Bucket, Workspace
from tests.dashboards.conftest import GOODPUT, Get
from tests.dashboards.reading import read
from tests.dashboards.world import PASSWORD, World

SPEECH = "/w/acme/speech/goodput"
HIDDEN = "/w/globex/hidden/goodput"
NOWHERE = "/w/acme/nowhere/goodput"
EMPTY = "/w/acme/empty%20room/goodput"


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        ("ana", GOODPUT, 200),
        ("ana", EMPTY, 200),
        ("ana", SPEECH, 404),
        ("ana", HIDDEN, 404),
        ("ana", NOWHERE, 404),
        ("sol", SPEECH, 200),
        ("sol", GOODPUT, 404),
        ("adam", GOODPUT, 200),
        ("adam", SPEECH, 200),
        ("adam", HIDDEN, 404),
        ("olga", GOODPUT, 200),
        ("olga", HIDDEN, 200),
        ("olga", NOWHERE, 404),
        ("eve", HIDDEN, 200),
        ("eve", GOODPUT, 404),
        ("nora", GOODPUT, 404),
    ],
)
def test_each_person_sees_their_workspaces_only(get: Get, who: str, path: str, status: int) -> None:
    assert get(path, who).status_code == status


@pytest.mark.parametrize("shape", ["html", "csv", "json"])
def test_what_is_not_ones_own_looks_like_what_is_not_there(get: Get, shape: str) -> None:
    foreign, missing = get(SPEECH, format=shape), get(NOWHERE, format=shape)
    assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content)
    assert b"choir" not in foreign.content
    assert b"There is no such page, or it is not yours to see." in foreign.content


def test_a_member_never_sees_a_name_of_another_workspace(get: Get) -> None:
    for by in ("run", "machine", "pool", "workspace", "user"):
        assert "choir" not in get(by=by, show="numbers").content.decode()
        assert "speech" not in get(by=by).content.decode()


@pytest.mark.parametrize("path", [GOODPUT, SPEECH, NOWHERE, "/"])
def test_who_is_not_signed_in_is_sent_to_the_login_and_back(get: Get, path: str) -> None:
    response = get(f"{path}?by=pool", who="")
    assert response.status_code == 302
    assert response["Location"] == f"/login?next={path}%3Fby%3Dpool"


def test_a_refresh_after_the_session_ended_takes_the_whole_page_to_the_login(world: World) -> None:
    response = Client().get(GOODPUT, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert response["HX-Redirect"] == f"/login?next={GOODPUT}"
    assert response.content == b""


def test_the_front_door_leads_to_the_first_workspace(get: Get) -> None:
    assert get("/", "ana")["Location"] == EMPTY
    assert get("/", "sol")["Location"] == SPEECH
    assert get("/", "olga")["Location"] == EMPTY


def test_who_has_no_workspace_is_told_how_to_get_one(get: Get) -> None:
    page = get("/", "nora")
    assert page.status_code == 200
    assert "./manage.py create_user nora --member ORGANIZATION/WORKSPACE" in page.content.decode()


def test_the_menu_lists_what_one_may_open(get: Get) -> None:
    def listed(who: str, path: str) -> list[str]:
        menu = get(path, who).content.decode().split("<main")[0]
        return re.findall(r'href="(/w/[^"]+/goodput)"', menu)

    assert set(listed("ana", GOODPUT)) == {EMPTY, GOODPUT}
    assert set(listed("adam", GOODPUT)) == {EMPTY, GOODPUT, SPEECH}
    assert set(listed("olga", GOODPUT)) == {EMPTY, GOODPUT, SPEECH, HIDDEN}
    assert listed("sol", SPEECH) == [SPEECH]


def test_who_runs_an_organization_or_the_site_finds_the_way_there_in_the_menu(get: Get) -> None:
    def ways(who: str) -> list[str]:
        menu = get(GOODPUT, who).content.decode().split("<main")[0]
        return re.findall(r'href="(/(?:organizations|admin)/[^"]*)"', menu)

    acme = ["/organizations/acme/clusters/east/goodput", "/organizations/acme/settings"]
    assert ways("ana") == []
    assert ways("adam") == acme
    assert ways("olga") == [*acme, "/admin/"]


@pytest.mark.parametrize("name", ["team/a", "naïve ☃", "50% off?#", "goodput"])
def test_a_workspace_of_any_name_can_be_opened(world: World, get: Get, name: str) -> None:
    Workspace.objects.create(organization=world.vision.organization, name=name)
    links = read(get(who="olga")).by_id("switch").of("a")
    (address,) = (link.attributes["href"] for link in links if link.text == f"acme / {name}")
    assert read(get(address, "olga")).of("h1")[0].text.endswith(f"{name} › Goodput")


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_pages_are_only_read(world: World, method: str) -> None:
    client = Client()
    assert client.login(username="ana", password=PASSWORD)
    assert getattr(client, method)(GOODPUT).status_code == 405


def test_pages_are_never_stored_and_allow_nothing_from_elsewhere(get: Get) -> None:
    page = get()
    assert "no-store" in page["Cache-Control"]
    assert "HX-Request" in page["Vary"]
    policy = page["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "nonce" not in policy
    text = page.content.decode()
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?! src=)|javascript:", re.sub(r"&lt;.*?&gt;", "", text))
    assert re.findall(r'(?:src|href)="(?:https?:)?//', text) == []


# --- signing in ---------------------------------------------------------------------------------------------


def sign_in(client: Client, name: str, password: str, **more: Any) -> Any:
    return client.post("/login", {"username": name, "password": password, **more})


def test_signing_in_leads_back_and_signing_out_ends_it(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    token = client.get("/login").cookies["csrftoken"].value
    answer = sign_in(client, "ana", PASSWORD, next=f"{GOODPUT}?by=pool", csrfmiddlewaretoken=token)
    assert (answer.status_code, answer["Location"]) == (302, f"{GOODPUT}?by=pool")
    assert client.get(GOODPUT).status_code == 200
    assert client.get("/login")["Location"] == "/"
    assert client.get("/logout").status_code == 405
    out = client.post("/logout", {"csrfmiddlewaretoken": client.cookies["csrftoken"].value})
    assert out["Location"] == "/login"
    assert client.get(GOODPUT).status_code == 302


def test_signing_in_leads_to_no_other_site(world: World) -> None:
    for elsewhere in ("https://evil.example/", "//evil.example/", "javascript:alert(1)"):
        assert sign_in(Client(), "ana", PASSWORD, next=elsewhere)["Location"] == "/"


def test_a_form_of_another_site_is_refused(world: World) -> None:
    assert sign_in(Client(enforce_csrf_checks=True), "ana", PASSWORD).status_code == 403


def test_a_wrong_password_and_an_unknown_name_get_one_answer(world: World) -> None:
    def said(name: str) -> str:
        text = sign_in(Client(), name, "wrong").content.decode()
        return re.sub(r'value="[^"]*"', "", text)

    assert "That name and password do not belong together." in said("ana")
    assert said("ana") == said("nobody-at-all")


def test_after_five_failures_the_right_password_has_to_wait_too(world: World) -> None:
    for _ in range(throttle.OF_NAME.most):
        assert "do not belong together" in sign_in(Client(), "ana", "wrong").content.decode()
    assert "Too many failed attempts; try again in 5 minutes." in sign_in(Client(), "Ana", PASSWORD).content.decode()
    assert sign_in(Client(), "adam", PASSWORD).status_code == 302
    elsewhere = Client(REMOTE_ADDR="127.0.0.2")
    assert sign_in(elsewhere, "ana", PASSWORD).status_code == 302
    Bucket.objects.update(until=Now())  # as it is five minutes after the first
    assert sign_in(Client(), "ana", PASSWORD).status_code == 302


def test_a_success_forgets_the_failures(world: World) -> None:
    for _ in range(2):
        for _ in range(throttle.OF_NAME.most - 1):
            sign_in(Client(), "ana", "wrong")
        assert sign_in(Client(), "ana", PASSWORD).status_code == 302


def test_one_address_cannot_try_every_name(db: None) -> None:
    for number in range(throttle.OF_ADDRESS.most):
        assert throttle.begin(f"name-{number}", "10.0.0.1")
    assert not throttle.begin("ana", "10.0.0.1")
    assert throttle.begin("ana", "10.0.0.2")


def test_those_who_sign_in_rightly_use_nothing_up(db: None) -> None:
    for number in range(2 * throttle.OF_ADDRESS.most):
        assert throttle.begin(f"name-{number}", "10.0.0.1")
        throttle.succeeded(f"name-{number}", "10.0.0.1")
