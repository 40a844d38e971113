"""One invitation lets one person in, however many come at once; who comes too late leaves no account behind."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from dashboards.views import people as view
from ledger import members
from ledger.models import Invitation, Membership, Organization, Workspace

PASSWORD = "swordfish-7-swordfish"


@pytest.fixture
def workspace(transactional_db: None) -> Workspace:
    return Workspace.objects.create(organization=Organization.objects.create(name="acme"), name="vision")


def come(token: str, name: str) -> Any:
    form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    return Client().post(f"/invitations/{token}", form)


def test_of_eight_strangers_one_gets_in_and_one_account_is_made(workspace: Workspace, monkeypatch: Any) -> None:
    token = members.invite(workspace.organization, workspace, "adam")
    barrier, found = Barrier(8), view.members.invitation

    def together(plain: str) -> Any:
        seen = found(plain)
        barrier.wait(60)
        return seen

    def stranger(number: int) -> int:
        try:
            return int(come(token, f"stranger-{number}").status_code)
        finally:
            connection.close()

    monkeypatch.setattr(view.members, "invitation", together)
    with ThreadPoolExecutor(8) as pool:
        answered = sorted(pool.map(stranger, range(8)))
    assert answered == [302] + [404] * 7
    assert (User.objects.count(), Membership.objects.count()) == (1, 1)
    assert Invitation.objects.get().used_by == User.objects.get().username


def test_a_name_that_is_taken_meanwhile_uses_nothing_up(workspace: Workspace, monkeypatch: Any) -> None:
    token = members.invite(workspace.organization, workspace, "adam")
    monkeypatch.setattr("dashboards.forms.JoinForm.is_valid", lambda form: form.full_clean() or True)
    User.objects.create_user("ana")
    monkeypatch.setattr("dashboards.forms.JoinForm.save", lambda form: User.objects.create_user("ana"))
    answer = come(token, "ana")
    assert (answer.status_code, b"Somebody has this name already." in answer.content) == (400, True)
    assert Invitation.objects.get().used_at is None
    assert members.invitation(token) is not None
