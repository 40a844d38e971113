"""The tokens of a workspace or an organization: what there is, making one, ending one."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from ledger.models import Organization, Token, Workspace
from ledger.models.access import DAYS_MAX, SCOPES

__all__ = ["DAYS_MAX", "MEMBERS_SCOPES", "SCOPES", "TokenRow", "issue", "listed", "revoke"]

MEMBERS_SCOPES = ("read", "metrics")


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token by the characters it begins with; `workspace` "" = it reaches all of the organization."""

    key: str
    scopes: tuple[str, ...]
    workspace: str
    made_at: datetime
    expires_at: datetime | None
    expired: bool


def listed(organization: Organization, workspace: Workspace | None) -> list[TokenRow]:
    """Return the tokens of a workspace, or with None of the organization and all its workspaces, the newest first."""
    now = Now()
    dead = set(_of(organization, workspace).filter(expiry__lte=now).values_list("pk", flat=True))
    found = _of(organization, workspace).select_related("workspace").order_by("-created", "token_key")
    return [
        TokenRow(
            key=token.token_key,
            scopes=tuple(token.scopes),
            workspace="" if token.workspace is None else token.workspace.name,
            made_at=token.created,
            expires_at=token.expiry,
            expired=token.pk in dead,
        )
        for token in found
    ]


def _of(organization: Organization, workspace: Workspace | None) -> QuerySet[Token]:
    found = Token.objects.filter(organization=organization)
    return found if workspace is None else found.filter(workspace=workspace)


def issue(organization: Organization, workspace: Workspace | None, scopes: list[str], days: int | None) -> str:
    """Make a token and return its text, which nobody can read again. Raises ValueError as `Token.issue` does."""
    return Token.issue(organization, workspace, scopes, days)[1]


@transaction.atomic
def revoke(organization: Organization, workspace: Workspace | None, key: str, within: tuple[str, ...]) -> bool:
    """End a token at once, if it has no scope but those `within`; whether there was one."""
    found = list(_of(organization, workspace).filter(token_key=key, scopes__contained_by=list(within)))
    for token in found:
        token.delete()  # one by one, so that the audit log hears of each
    return bool(found)
