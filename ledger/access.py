"""Who sees what: a scope is a set of workspaces, and every number shown is asked for within one."""

from dataclasses import dataclass, replace

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from ledger.models import Cluster, Organization, Workspace

__all__ = [
    "Cluster",
    "Organization",
    "Scope",
    "Watched",
    "Workspace",
    "cluster_for",
    "clusters_of",
    "manages",
    "names_within",
    "organization_for",
    "organizations_of",
    "scope_of_organization",
    "scope_of_workspace",
    "scope_within",
    "visible_clusters",
    "visible_workspaces",
    "watched_at",
    "watched_by",
    "watched_with",
    "workspace_for",
    "workspaces_of",
]


@dataclass(frozen=True, slots=True)
class Scope:
    """The ids of the workspaces that may be seen, and the only cluster to look at (0: every one).

    `is_whole`: these are all the workspaces of one organization, so all that its clusters ran may be seen.
    """

    workspaces: frozenset[int]
    cluster: int = 0
    is_whole: bool = False


def scope_of_workspace(workspace: Workspace) -> Scope:
    return Scope(frozenset({workspace.pk}))


def scope_of_organization(organization: Organization, cluster: int = 0) -> Scope:
    mine = Workspace.objects.filter(organization=organization)
    return Scope(frozenset(mine.values_list("pk", flat=True)), cluster, is_whole=True)


def scope_within(scope: Scope, cluster: str) -> Scope | None:
    """Return what of a scope is in the cluster of a name; None when its organization has none, or it is in another."""
    found = Cluster.objects.filter(organization__workspace__in=scope.workspaces, name=cluster).first()
    if found is None or scope.cluster not in (0, found.pk):
        return None
    return replace(scope, cluster=found.pk)


def visible_workspaces(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Workspace]:
    """Return the workspaces a person may see: a member theirs, an organization's admin all of it, an operator all."""
    workspaces = Workspace.objects.select_related("organization").order_by("organization__name", "name")
    if not user.is_authenticated:
        return workspaces.none()
    if getattr(user, "is_staff", False):
        return workspaces
    mine = Q(membership__user=user) | Q(organization__administration__user=user)
    return workspaces.filter(mine).distinct()


def workspaces_of(user: AbstractBaseUser | AnonymousUser) -> list[Workspace]:
    return list(visible_workspaces(user))


def workspace_for(user: AbstractBaseUser | AnonymousUser, organization: str, workspace: str) -> Workspace | None:
    """Return the workspace of that name, None when there is none or the person may not see it."""
    return visible_workspaces(user).filter(organization__name=organization, name=workspace).first()


def organizations_of(user: AbstractBaseUser | AnonymousUser) -> list[Organization]:
    """Return the organizations of which a person sees anything, by name; an operator sees all."""
    organizations = Organization.objects.order_by("name")
    if not user.is_authenticated:
        return []
    if not getattr(user, "is_staff", False):
        mine = Q(workspace__membership__user=user) | Q(administration__user=user)
        organizations = organizations.filter(mine).distinct()
    return list(organizations)


def organization_for(user: AbstractBaseUser | AnonymousUser, name: str) -> Organization | None:
    """Return the organization of that name, None when there is none or the person does not see all of it."""
    organizations = Organization.objects.filter(name=name)
    if not getattr(user, "is_staff", False):
        organizations = organizations.filter(administration__user=user.pk)
    return organizations.first() if user.is_authenticated else None


def visible_clusters(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Cluster]:
    """Return the clusters whose whole ledger a person may see: an organization's admin its own, an operator all."""
    clusters = Cluster.objects.select_related("organization").order_by("organization__name", "name")
    if not user.is_authenticated:
        return clusters.none()
    return clusters if getattr(user, "is_staff", False) else clusters.filter(organization__administration__user=user.pk)


def clusters_of(user: AbstractBaseUser | AnonymousUser) -> list[Cluster]:
    return list(visible_clusters(user))


def cluster_for(user: AbstractBaseUser | AnonymousUser, organization: str, cluster: str) -> Cluster | None:
    """Return the cluster of that name, None when there is none or the person may not see all of it."""
    return visible_clusters(user).filter(organization__name=organization, name=cluster).first()


def manages(user: AbstractBaseUser | AnonymousUser, organization: Organization) -> bool:
    """Whether a person may change who is in an organization and how it is counted: its admins and operators."""
    if not user.is_authenticated:
        return False
    return bool(getattr(user, "is_staff", False)) or organization.administration_set.filter(user=user.pk).exists()


def names_within(organization: Organization) -> tuple[list[str], list[str]]:
    """Return the names of an organization's workspaces and of its clusters."""
    workspaces = organization.workspace_set.order_by("name").values_list("name", flat=True)
    clusters = organization.cluster_set.order_by("name").values_list("name", flat=True)
    return list(workspaces), list(clusters)


@dataclass(frozen=True, slots=True)
class Watched:
    """Whose alerts may be seen: those of workspaces, by their ids, and those of clusters as a whole."""

    workspaces: frozenset[int]
    clusters: QuerySet[Cluster]


def watched_by(user: AbstractBaseUser | AnonymousUser, scope: Scope | None = None) -> Watched:
    """Return whose alerts a person may see: at a place those of its workspaces and of their organization's clusters."""
    clusters = visible_clusters(user)
    if scope is None:
        return Watched(frozenset(each.pk for each in workspaces_of(user)), clusters)
    return Watched(scope.workspaces, clusters.filter(organization__workspace__in=scope.workspaces))


def watched_at(cluster: Cluster) -> Watched:
    """Return the alerts of a cluster as a whole."""
    return Watched(frozenset(), Cluster.objects.filter(pk=cluster.pk))


def watched_with(organization: Organization, workspace: Workspace | None) -> Watched:
    """Return whose alerts a token sees: of a workspace its own, of an organization all."""
    if workspace is not None:
        return Watched(frozenset({workspace.pk}), Cluster.objects.none())
    return Watched(scope_of_organization(organization).workspaces, organization.cluster_set.all())
