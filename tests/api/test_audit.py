"""What was changed about who may do what stands in the log, with whoever did it."""

import json
from io import StringIO
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.test import Client, RequestFactory

from ledger import audit
from ledger.audit import ActorMiddleware, acting
from ledger.models import Administration, Change, Cluster, Membership, Token
from tests.api.conftest import Tenants


def changes(**having: Any) -> list[tuple[str, str, dict[str, Any]]]:
    return [(c.what, c.organization, c.detail) for c in Change.objects.filter(**having).order_by("pk")]


def last() -> tuple[str, str, str, dict[str, Any]]:
    change = Change.objects.latest("pk")
    return change.actor, change.what, change.organization, change.detail


def test_tokens(tenants: Tenants) -> None:
    token, plain = Token.issue(tenants.acme, tenants.vision, ["read"], 30)
    of = {"workspace": "vision", "token": f"{plain[:15]}…", "scopes": ["read"]}
    assert changes() == [("token_issued", "acme", of)]
    token.scopes = ["read", "metrics"]
    token.save()
    assert last()[1:] == (
        "token_changed",
        "acme",
        {"token": f"{plain[:15]}…", "changed": {"scopes": ["read", "metrics"]}},
    )
    token.save()
    assert Change.objects.count() == 2
    call_command("revoke_token", plain, stdout=StringIO())
    assert last() == ("command line", "token_revoked", "acme", {**of, "scopes": ["read", "metrics"]})
    assert plain not in json.dumps(changes())
    assert plain[15:30] not in json.dumps(changes())


def test_members_admins_and_operators(tenants: Tenants) -> None:
    options = ("--member", "acme/vision", "--admin", "globex", "--operator")
    call_command("create_user", "ana", *options, stdout=StringIO())
    whats = [what for what, _, _ in changes()]
    assert whats == ["user_added", "user_changed", "member_added", "admin_added", "user_changed"]
    assert changes(what="member_added") == [("member_added", "acme", {"workspace": "vision", "user": "ana"})]
    assert changes(what="admin_added") == [("admin_added", "globex", {"user": "ana"})]
    assert last()[3] == {"user": "ana", "changed": {"is_staff": True, "password": None}}
    call_command("create_user", "ana", *options, stdout=StringIO())
    assert Change.objects.count() == 5
    Membership.objects.filter(user__username="ana").delete()
    assert last()[1:] == ("member_removed", "acme", {"workspace": "vision", "user": "ana"})
    User.objects.get(username="ana").delete()
    assert [what for what, _, _ in changes()][6:] == ["admin_removed", "user_removed"]


def test_signing_in_is_no_change(db: None) -> None:
    user = User.objects.create_user("ana")
    Client().force_login(user)
    assert [what for what, _, _ in changes()] == ["user_added"]
    user.is_active = False
    user.save()
    assert last()[3] == {"user": "ana", "changed": {"is_active": False}}


def test_settings(tenants: Tenants) -> None:
    call_command(
        "set_cluster", "acme", "east", "--stall-after-minutes", "20", "--auto-workspaces", "off", stdout=StringIO()
    )
    changed = {"stall_after_ms": 1_200_000, "auto_workspaces": False}
    assert last()[1:] == ("cluster_changed", "acme", {"cluster": "acme/east", "changed": changed})
    call_command("set_cluster", "acme", "east", "--readings", "none", stdout=StringIO())
    assert last()[3]["changed"]["readings_expected"] is False
    assert last()[3]["changed"]["since"] % 3_600_000 == 0
    east = Cluster.objects.get(pk=tenants.east.pk)
    east.carry_max_ms = 60_000
    east.save()
    assert last()[3] == {"cluster": "acme/east", "changed": {"carry_max_ms": 60_000}}
    east.save()
    assert Change.objects.count() == 3
    east.straggler_milli = 1_100
    east.save()
    assert last()[3] == {"cluster": "acme/east", "changed": {"straggler_milli": 1_100}}


def test_the_person_of_a_request_is_the_actor(tenants: Tenants) -> None:
    request = RequestFactory().post("/")
    request.user = User.objects.create_user("adam")

    def view(_: Any) -> Any:
        Token.issue(tenants.acme, None, ["read"])

    ActorMiddleware(view)(request)
    assert last()[:2] == ("adam", "token_issued")
    Token.issue(tenants.acme, None, ["read"])
    assert last()[0] == "command line"
    with acting(lambda: "somebody"):
        Administration.objects.create(user=request.user, organization=tenants.acme)
    assert last()[:2] == ("somebody", "admin_added")


def test_what_is_undone_leaves_no_word(tenants: Tenants) -> None:
    with transaction.atomic():
        Token.issue(tenants.acme, None, ["read"])
        transaction.set_rollback(True)
    assert changes() == []


def test_the_command_lists_the_newest_first_one_a_line(tenants: Tenants) -> None:
    Token.issue(tenants.acme, None, ["read"])
    Token.issue(tenants.globex, None, ["read"])
    with acting(lambda: "evil\n2026-01-01 root"):
        audit.record("token_issued", "acme", note="a\nb\u2028")

    def listed(*arguments: str) -> list[str]:
        out = StringIO()
        call_command("audit", *arguments, stdout=out)
        return out.getvalue().splitlines()

    assert len(listed()) == 3
    assert '"evil\\n2026-01-01 root" "token_issued" "acme"' in listed()[0]
    assert len(listed("--organization", "acme")) == 2
    assert len(listed("--limit", "1")) == 1
    assert listed("--organization", "nobody") == []
