import io
import sys

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management.base import CommandError

from ledger.access import workspaces_of
from ledger.models import Administration, Cluster, ClusterRule, Membership, Organization, Workspace
from tests.replay.commands import say

pytestmark = pytest.mark.django_db
User = get_user_model()


@pytest.fixture
def acme() -> None:
    say("create_organization", "acme")
    say("create_workspace", "acme", "vision")
    say("create_workspace", "acme", "speech")


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_saying_it_again_changes_nothing() -> None:
    assert say("create_organization", "acme") == ["organization acme created"]
    assert say("create_organization", "acme") == ["organization acme is there already"]
    for what, model in (("workspace", Workspace), ("cluster", Cluster)):
        assert say(f"create_{what}", "acme", "east") == [f"{what} acme/east created"]
        assert say(f"create_{what}", "acme", "east") == [f"{what} acme/east is there already"]
        assert model.objects.count() == 1
    assert Organization.objects.count() == 1


def test_a_cluster_expects_readings_unless_it_is_said(acme: None) -> None:
    say("create_cluster", "acme", "east")
    say("create_cluster", "acme", "west", "--readings", "none")
    rules = ClusterRule.objects.values_list("cluster__name", "readings_expected")
    assert list(rules) == [("west", False)]
    say("create_cluster", "acme", "west", "--readings", "expected")
    assert list(rules.all()) == [("west", False)]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("create_workspace", "acne", "vision"), r'no organization "acne"; did you mean acme\?'),
        (("create_cluster", "zzz", "east"), r'no organization "zzz"; there is acme'),
        (("create_user", "ana", "--member", "acme/vison"), r'no workspace "vison"; did you mean vision\?'),
        (("create_user", "ana", "--member", "vision"), "--member takes ORGANIZATION/WORKSPACE"),
        (("create_user", "ana", "--admin", "acm"), r'no organization "acm"; did you mean acme\?'),
        (("create_user", "ana maria"), "valid username"),
        (("create_organization", "a\tb"), "the name of an organization must not have control characters"),
        (("create_organization", "a" * 254), "the name of an organization must have 1 to 253 characters"),
        (("create_workspace", "acme", ""), "the name of a workspace must have 1 to 253 characters"),
    ],
)
def test_what_cannot_be_says_why_and_makes_nothing(acme: None, command: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        say(*command)
    assert not User.objects.exists()
    assert Workspace.objects.count() == 2


def test_the_first_tenant_is_told_how_to_make_it() -> None:
    with pytest.raises(CommandError, match="and no other either; the create_ commands make the first"):
        say("create_workspace", "acme", "vision")


def test_names_are_stored_in_one_form() -> None:
    say("create_organization", "Zu\u0308rich")
    assert say("create_organization", "Zürich") == ["organization Zürich is there already"]


def test_a_new_user_gets_a_password_once(acme: None) -> None:
    first, *said = say("create_user", "ana", "--member", "acme/vision")
    assert (first, said[0]) == ("user ana created", "member of acme/vision")
    password = said[1].removeprefix("password: ")
    assert authenticate(username="ana", password=password)
    assert say("create_user", "ana", "--member", "acme/vision") == ["user ana is there already"]
    assert authenticate(username="ana", password=password)


def test_a_user_sees_what_was_said_and_no_more(acme: None) -> None:
    say("create_organization", "globex")
    say("create_workspace", "globex", "vision")
    seen = {}
    for name, *arguments in (
        ("ana", "--member", "acme/vision"),
        ("bruno", "--admin", "acme"),
        ("chen", "--operator"),
        ("dora",),
    ):
        say("create_user", name, *arguments)
        seen[name] = [str(workspace) for workspace in workspaces_of(User.objects.get(username=name))]
    assert seen == {
        "ana": ["acme/vision"],
        "bruno": ["acme/speech", "acme/vision"],
        "chen": ["acme/speech", "acme/vision", "globex/vision"],
        "dora": [],
    }


def test_said_again_a_user_may_see_more_and_keeps_the_rest(acme: None) -> None:
    say("create_user", "ana", "--member", "acme/vision")
    assert say("create_user", "ana", "--member", "acme/speech", "--admin", "acme", "--operator") == [
        "user ana is there already",
        "member of acme/speech",
        "admin of acme",
        "operator",
    ]
    assert Membership.objects.count() == 2
    assert Administration.objects.count() == 1
    assert say("create_user", "ana", "--admin", "acme", "--operator") == ["user ana is there already"]


def test_a_password_can_be_given_and_is_not_printed(acme: None, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "correct horse battery\n")
    assert say("create_user", "ana", "--password-stdin") == ["user ana created"]
    assert authenticate(username="ana", password="correct horse battery")
    typed(monkeypatch, "another horse battery\n")
    say("create_user", "ana", "--password-stdin")
    assert authenticate(username="ana", password="another horse battery")


def test_a_password_that_is_too_easy_makes_no_user(acme: None, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "ana\n")
    with pytest.raises(CommandError, match="too short"):
        say("create_user", "ana", "--password-stdin")
    assert not User.objects.exists()
