"""Who is in a workspace and who runs an organization: lists, invitations, and leaving."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser, User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from ledger.models import Administration, Invitation, Membership, Organization, Workspace

INVITATION_DAYS = 7
INVITATIONS_MAX = 100
_RANDOM_BYTES = 24


class Refusal(ValueError):
    """What cannot be done, and why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person of a workspace; an admin of its organization need not be a member of it."""

    name: str
    admin: bool
    member: bool


def members_of(workspace: Workspace) -> list[Member]:
    """Return who may see a workspace, operators aside: its organization's admins first, then its members, by name."""
    admins = set(admins_of(workspace.organization))
    within = set(Membership.objects.filter(workspace=workspace).values_list("user__username", flat=True))
    return [Member(name, name in admins, name in within) for name in sorted(admins) + sorted(within - admins)]


def admins_of(organization: Organization) -> list[str]:
    found = Administration.objects.filter(organization=organization).order_by("user__username")
    return list(found.values_list("user__username", flat=True))


@transaction.atomic
def remove_member(workspace: Workspace, name: str) -> bool:
    """Take a person out of a workspace; from their next request on they see nothing of it."""
    return _each_deleted(Membership.objects.filter(workspace=workspace, user__username=name))


@transaction.atomic
def remove_admin(organization: Organization, name: str) -> bool:
    """Make a person no admin any more. Raises Refusal when nobody would be left."""
    Organization.objects.select_for_update().get(pk=organization.pk)
    of_all = Administration.objects.filter(organization=organization)
    if of_all.filter(user__username=name).exists() and of_all.count() == 1:
        raise Refusal(f"{name} is the only admin; invite another one first.")
    return _each_deleted(of_all.filter(user__username=name))


def _each_deleted(found: QuerySet[Membership] | QuerySet[Administration]) -> bool:
    """Delete rows one by one, so that the audit log hears of each."""
    rows = list(found)
    for row in rows:
        row.delete()
    return bool(rows)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An invitation that nobody has used yet."""

    pk: int
    made_by: str
    expires_at: datetime


def digest_of(plain: str) -> str:
    return salted_hmac("ledger.Invitation", plain, algorithm="sha512").hexdigest()


@transaction.atomic
def invite(organization: Organization, workspace: Workspace | None, made_by: str) -> str:
    """Make an invitation and return its text, which nobody can read again; workspace None = as an admin.

    Raises Refusal when too many wait already.
    """
    Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)  # two at once are counted one by one
    if len(invitations_of(organization, workspace)) >= INVITATIONS_MAX:
        raise Refusal(f"{INVITATIONS_MAX} invitations wait already; withdraw some first.")
    plain = secrets.token_urlsafe(_RANDOM_BYTES)
    Invitation.objects.create(
        digest=digest_of(plain),
        organization=organization,
        workspace=workspace,
        made_by=made_by,
        expires_at=Now() + timedelta(days=INVITATION_DAYS),
    )
    return plain


def invitations_of(organization: Organization, workspace: Workspace | None) -> list[Waiting]:
    """Return the invitations that still let somebody in, the newest first."""
    found = _alive().filter(organization=organization, workspace=workspace).order_by("-made_at", "-pk")
    return [Waiting(*row) for row in found.values_list("pk", "made_by", "expires_at")]


def _alive() -> QuerySet[Invitation]:
    return Invitation.objects.filter(used_at__isnull=True, expires_at__gt=Now())


@transaction.atomic
def withdraw(organization: Organization, workspace: Workspace | None, pk: int) -> bool:
    found = _alive().filter(organization=organization, workspace=workspace, pk=pk).first()
    if found is None:
        return False
    found.delete()
    return True


def invitation(plain: str) -> Invitation | None:
    """Return an invitation that still lets somebody in, None for any other text."""
    known = _alive().select_related("organization", "workspace", "workspace__organization")
    return known.filter(digest=digest_of(plain)).first()


def accept_anew(plain: str, make: Callable[[], User]) -> tuple[Invitation, User] | None:
    """Make an account and let it in by an invitation; None, and no account, when that is over.

    Raises Refusal when somebody has taken the account's name in the meantime.
    """
    try:
        with transaction.atomic():
            if not _alive().select_for_update(no_key=True).filter(digest=digest_of(plain)):
                return None
            person = make()
            used = accept(plain, person)
            assert used is not None, "nobody else uses it while its row is held"
            return used, person
    except IntegrityError:
        raise Refusal("Somebody has this name already.") from None


@transaction.atomic
def accept(plain: str, user: AbstractBaseUser) -> Invitation | None:
    """Let a person in by an invitation; None when it was used, withdrawn or has expired in the meantime."""
    name = user.get_username()
    if not _alive().filter(digest=digest_of(plain)).update(used_at=Now(), used_by=name):
        return None
    used = Invitation.objects.select_related("organization", "workspace").get(digest=digest_of(plain))
    person = User.objects.get(pk=user.pk)
    if used.workspace is None:
        Administration.objects.get_or_create(user=person, organization=used.organization)
    else:
        Membership.objects.get_or_create(user=person, workspace=used.workspace)
    return used
