"""Tokens: made once, kept as a keyed hash, worth nothing from the moment they end."""

import hashlib
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.test import override_settings

from ledger.models import Token
from ledger.models.access import DAYS_MAX
from tests.api.conftest import Api, Tenants


def test_a_token_has_256_random_bits_and_is_kept_as_prefix_and_keyed_hash(tenants: Tenants) -> None:
    token, plain = Token.issue(tenants.acme, tenants.vision, ["ingest", "read"], 30)
    assert plain.startswith("goodput_")
    assert len(bytes.fromhex(plain.removeprefix("goodput_"))) == 32
    assert token.token_key == plain[:15]
    assert token.digest != hashlib.sha512(plain.encode()).hexdigest()
    assert plain[15:] not in repr(Token.objects.values().get())
    assert token.scopes == ["read", "ingest"]
    assert (token.organization, token.workspace) == (tenants.acme, tenants.vision)
    assert Token.issue(tenants.acme, None, ["read"], 30)[1] != plain


def test_days_count_from_now(tenants: Tenants) -> None:
    token, _ = Token.issue(tenants.acme, None, ["read"], 30)
    assert token.expiry is not None
    assert abs(token.expiry - token.created - timedelta(days=30)) < timedelta(minutes=1)
    assert Token.issue(tenants.acme, None, ["read"])[0].expiry is None


@pytest.mark.parametrize("scopes", [[], ["write"], ["read", "Read"], [""]])
def test_scopes_that_there_are_not(tenants: Tenants, scopes: list[str]) -> None:
    with pytest.raises(ValueError, match="scopes are"):
        Token.issue(tenants.acme, None, scopes)
    with pytest.raises(IntegrityError), transaction.atomic():
        Token.objects.create(digest="d", token_key="k", organization=tenants.acme, scopes=scopes)


def test_days_at_their_limits_and_beyond(tenants: Tenants) -> None:
    for days in (1, DAYS_MAX):
        Token.issue(tenants.acme, None, ["read"], days)
    for days in (0, -1, DAYS_MAX + 1):
        with pytest.raises(ValueError, match="days"):
            Token.issue(tenants.acme, None, ["read"], days)


def test_a_workspace_is_one_of_the_organization(tenants: Tenants) -> None:
    with pytest.raises(ValueError, match="workspace"):
        Token.issue(tenants.acme, tenants.foreign, ["read"])


def challenged(response: Any) -> bool:
    assert response.json()["status"] == response.status_code
    return bool(response.status_code == 401 and response["WWW-Authenticate"] == "Bearer")


def test_without_a_token_or_with_a_wrong_one(api: Api) -> None:
    good = api.token("read")
    assert challenged(api.get("goodput", None))
    assert challenged(api.post({}, None))
    wrong = (good[:-1], good + "0", good.upper(), good[:15], "x", "é", "\xff", "a b", "", good + " " + good)
    for token in wrong:
        assert challenged(api.client.get("/v1/goodput", headers={"Authorization": f"Bearer {token}"}))
    for scheme in ("Token", "Basic", ""):
        assert challenged(api.client.get("/v1/goodput", headers={"Authorization": f"{scheme} {good}"}))
    assert api.client.get("/v1/goodput", headers={"Authorization": f"bearer {good}"}).status_code == 200


def test_a_token_that_ended_lets_nobody_in_at_the_next_request(api: Api) -> None:
    token, plain = Token.issue(api.tenants.acme, None, ["read"], 1)
    assert api.get("goodput", plain).status_code == 200
    Token.objects.update(expiry=Now() + timedelta(minutes=1))
    assert api.get("goodput", plain).status_code == 200
    Token.objects.update(expiry=Now())
    assert challenged(api.get("goodput", plain))
    Token.objects.update(expiry=None)
    assert api.get("goodput", plain).status_code == 200
    token.delete()
    assert challenged(api.get("goodput", plain))


def test_tokens_are_worth_nothing_under_another_secret_key(api: Api) -> None:
    plain = api.token("read")
    with override_settings(SECRET_KEY="another"):
        assert challenged(api.get("goodput", plain))


@pytest.mark.parametrize("scope", ["read", "metrics", "ingest", "admin"])
def test_a_scope_that_is_missing(api: Api, scope: str) -> None:
    token = api.token(scope)
    answers = {
        "goodput": api.get("goodput", token),
        "observations": api.post({}, token),
        "refused": api.get("clusters/east/refused", token),
    }
    for name, needed in {"goodput": {"read"}, "observations": {"ingest"}, "refused": {"ingest", "admin"}}.items():
        if scope in needed:
            assert answers[name].status_code in (200, 400)
        else:
            assert answers[name].status_code == 403
            assert answers[name]["Content-Type"] == "application/problem+json"
            assert "scope" in answers[name].json()["detail"]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("create_token", *arguments, stdout=out)
    return out.getvalue()


def test_create_token_prints_the_token_alone(api: Api) -> None:
    plain = run("--organization", "acme", "--workspace", "vision", "--scopes", "read, ingest", "--days", "7").rstrip(
        "\n"
    )
    assert plain.removeprefix("goodput_").isalnum()
    assert api.get("goodput", plain).status_code == 200
    assert Token.objects.get().scopes == ["read", "ingest"]


def test_revoke_token_ends_it_at_once(api: Api) -> None:
    plain, other = api.token("read"), api.token("read")
    call_command("revoke_token", plain[:15], stdout=StringIO())
    assert challenged(api.get("goodput", plain))
    assert api.get("goodput", other).status_code == 200
    for unknown in (plain, plain[:14], ""):
        with pytest.raises(CommandError, match="no token"):
            call_command("revoke_token", unknown, stdout=StringIO())
    call_command("revoke_token", other, stdout=StringIO())
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--organization", "nobody", "--scopes", "read"), "organization nobody"),
        (("--organization", "acme", "--workspace", "nothing", "--scopes", "read"), "workspace nothing"),
        (("--organization", "acme", "--scopes", "write"), "scopes"),
        (("--organization", "acme", "--scopes", ""), "scopes"),
        (("--organization", "acme", "--scopes", "read", "--days", "0"), "days"),
    ],
)
def test_create_token_says_what_is_wrong(tenants: Tenants, arguments: tuple[str, ...], word: str) -> None:
    with pytest.raises(CommandError, match=word):
        run(*arguments)
    assert not Token.objects.exists()
