"""Organizations, clusters, workspaces and users by name, for commands; each is made once."""

from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TypeVar

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db.models import Model

from ledger.decode import values
from ledger.models import Administration, Cluster, ClusterRule, Membership, Organization, Workspace

Found = TypeVar("Found", bound=Model)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def checked_name(text: str, what: str) -> str:
    """Return the name in the form in which it is stored. Raises CommandError for one that cannot be one."""
    try:
        return values.name(text)
    except ValueError as error:
        raise CommandError(f"the name of {what} {error}") from None


def make_organization(name: str) -> tuple[Organization, bool]:
    """Return (organization, whether it is new)."""
    return Organization.objects.get_or_create(name=checked_name(name, "an organization"))


def make_cluster(organization: Organization, name: str, *, readings: bool = True) -> tuple[Cluster, bool]:
    """Return (cluster, whether it is new); without `readings` a new one expects none, from its beginning on."""
    cluster, new = Cluster.objects.get_or_create(organization=organization, name=checked_name(name, "a cluster"))
    if new and not readings:
        ClusterRule.objects.create(cluster=cluster, since=BEGINNING, readings_expected=False)
    return cluster, new


def make_workspace(organization: Organization, name: str) -> tuple[Workspace, bool]:
    """Return (workspace, whether it is new)."""
    return Workspace.objects.get_or_create(organization=organization, name=checked_name(name, "a workspace"))


def make_user(name: str) -> tuple[User, bool]:
    """Return (user, whether it is new); a new one cannot log in before it is given a password."""
    user, new = get_user_model().objects.get_or_create(username=_user_name(name))
    if new:
        user.set_unusable_password()
        user.save()
    return user, new


def _user_name(name: str) -> str:
    checked = User.normalize_username(checked_name(name, "a user"))
    try:
        User.username_validator(checked)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    return checked


def member(user: User, path: str) -> bool:
    """Let a user see a workspace, ORG/WORKSPACE; return whether that is new."""
    organization, workspace = _parted(path)
    return Membership.objects.get_or_create(user=user, workspace=workspace_named(organization, workspace))[1]


def _parted(path: str) -> tuple[str, str]:
    """Return the two names of ORG/WORKSPACE, which may have slashes in them: those of an organization that there is."""
    cuts = [at for at, char in enumerate(path) if char == "/"]
    if not cuts:
        raise CommandError(f'--member takes ORGANIZATION/WORKSPACE, not "{path}"')
    ways = [(path[:at], path[at + 1 :]) for at in cuts]
    known = set(Organization.objects.filter(name__in=[way[0] for way in ways]).values_list("name", flat=True))
    there = [way for way in ways if Workspace.objects.filter(organization__name=way[0], name=way[1]).exists()]
    return next(iter([*there, *(way for way in ways if way[0] in known), ways[0]]))


def admin(user: User, organization: str) -> bool:
    """Let a user see all of an organization; return whether that is new."""
    return Administration.objects.get_or_create(user=user, organization=organization_named(organization))[1]


def organization_named(name: str) -> Organization:
    """Return the organization of that name. Raises CommandError that names the nearest ones."""
    every = Organization.objects.all()
    return _only(every.filter(name=name), "organization", name, every.values_list("name", flat=True))


def cluster_named(organization: str, name: str) -> Cluster:
    """Return the organization's cluster of that name. Raises CommandError that names the nearest ones."""
    every = Cluster.objects.filter(organization=organization_named(organization))
    return _only(every.filter(name=name), "cluster", name, every.values_list("name", flat=True))


def workspace_named(organization: str, name: str) -> Workspace:
    """Return the organization's workspace of that name. Raises CommandError that names the nearest ones."""
    every = Workspace.objects.filter(organization=organization_named(organization))
    return _only(every.filter(name=name), "workspace", name, every.values_list("name", flat=True))


def _only(found: Iterable[Found], what: str, name: str, known: Iterable[str]) -> Found:
    for one in found:
        return one
    raise CommandError(f'there is no {what} "{name}"{_nearest(name, list(known))}')


def _nearest(name: str, known: list[str]) -> str:
    if not known:
        return ", and no other either; the create_ commands make the first"
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; there is {', '.join(sorted(known)[:8])}" + (" …" if len(known) > 8 else "")


def said(what: str, name: str, new: bool) -> str:
    """Return the line that a command prints of what it made, or found there."""
    return f"{what} {name} {'created' if new else 'is there already'}"
