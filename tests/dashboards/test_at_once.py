"""Who asks at the same time as others gets past no limit."""

from contextlib import suppress

import pytest

from ledger import channels, members
from ledger.channels import Refused
from ledger.members import Refusal
from ledger.models import Channel, Invitation, Organization, Workspace
from tests.faults.sessions import together

SESSIONS = 8


@pytest.fixture
def workspace(transactional_db: None) -> Workspace:
    return Workspace.objects.create(organization=Organization.objects.create(name="acme"), name="vision")


@pytest.mark.parametrize("is_admin", [False, True])
def test_invitations(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, is_admin: bool) -> None:
    monkeypatch.setattr(members, "INVITATIONS_MAX", 3)
    refused = []

    def invite() -> None:
        try:
            members.invite(workspace.organization, None if is_admin else workspace, "adam")
        except Refusal:
            refused.append(True)

    together([invite] * SESSIONS)
    assert (Invitation.objects.count(), len(refused)) == (3, SESSIONS - 3)


def test_channels(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "CHANNELS_MAX", 3)

    def add(name: str) -> None:
        with suppress(Refused):
            channels.add(workspace, "email", name, "ana@example.com", pools=[], clusters=False, digest=False)

    together([lambda name=f"channel {n}": add(name) for n in range(SESSIONS)])  # type: ignore[misc]
    assert Channel.objects.count() == 3
