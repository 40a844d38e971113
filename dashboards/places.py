"""The workspaces and clusters a person may open, and the door before each."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django_htmx.http import HttpResponseClientRedirect

from dashboards.rooms import Room
from ledger import access
from ledger.access import Scope
from ledger.core.parts import part

if TYPE_CHECKING:
    from ledger.access import Cluster, Organization

Person = AbstractBaseUser | AnonymousUser
P = ParamSpec("P")


class Spots(ABC):
    """What a workspace and a cluster have both: the addresses of their pages below `base`."""

    @property
    @abstractmethod
    def base(self) -> str: ...

    @property
    def address(self) -> str:
        return f"{self.base}/goodput"

    @property
    def weekly(self) -> str:
        return f"{self.base}/goodput/weekly"

    @property
    def machines(self) -> str:
        return f"{self.base}/machines"

    @property
    def pools(self) -> str:
        return f"{self.base}/pools"

    def spot(self, kind: str, name: str) -> str:
        """Return the address of a "machine"'s or a "pool"'s page, which is of those of this name in all clusters."""
        return f"{self.base}/{kind}s/{part(name)}"


@dataclass(frozen=True)
class Place(Spots):
    """A workspace: what it is called, where its page is, and what may be seen there."""

    organization: str
    workspace: str
    scope: Scope | None = None

    @property
    def name(self) -> str:
        return self.workspace

    @property
    def base(self) -> str:
        return f"/w/{part(self.organization)}/{part(self.workspace)}"

    @property
    def runs(self) -> str:
        return f"{self.base}/runs"

    @property
    def alerts(self) -> str:
        return f"{self.base}/alerts"

    @property
    def notifications(self) -> str:
        return f"{self.settings}/notifications"

    @property
    def settings(self) -> str:
        return f"{self.base}/settings"

    @property
    def log_profiles(self) -> str:
        return f"{self.base}/log-profiles"

    def run(self, name: str) -> str:
        """Return the address of a run's page; `name` is its uid or its name."""
        return f"{self.runs}/{part(name)}"


@dataclass(frozen=True)
class ClusterPlace(Spots):
    """A cluster of an organization, for who sees all of it."""

    organization: str
    cluster: str
    scope: Scope | None = None

    @property
    def name(self) -> str:
        return self.cluster

    @property
    def base(self) -> str:
        return f"/organizations/{part(self.organization)}/clusters/{part(self.cluster)}"

    @property
    def settings(self) -> str:
        return f"{self.base}/settings"


def places_of(user: Person) -> list[Place]:
    """Return the workspaces that `user` may open, by name."""
    found = access.workspaces_of(user)
    return sorted(
        (Place(workspace.organization.name, workspace.name) for workspace in found),
        key=lambda place: (place.organization, place.workspace),
    )


def place_of(user: Person, organization: str, workspace: str) -> Place:
    """Return one workspace. Raises Http404 when it does not exist or is none of the user's business."""
    found = access.workspace_for(user, organization, workspace)
    if found is None:
        raise Http404("There is no such page.")
    return Place(organization, workspace, access.scope_of_workspace(found))


def narrowed(place: Place | ClusterPlace, cluster: str) -> Place | ClusterPlace:
    """Return a place of which no more is seen than what is in a cluster; "": all. Raises Http404 when there is none."""
    assert place.scope is not None, "a place that was let through has a scope"
    if not cluster:
        return place
    scope = access.scope_within(place.scope, cluster)
    if scope is None:
        raise Http404("There is no such page.")
    return replace(place, scope=scope)


def clusters_of(user: Person) -> list[ClusterPlace]:
    """Return the clusters whose whole ledger `user` may open, by name."""
    return [ClusterPlace(cluster.organization.name, cluster.name) for cluster in access.clusters_of(user)]


def cluster_of(user: Person, organization: str, cluster: str) -> ClusterPlace:
    """Return one cluster. Raises Http404 when it does not exist or is none of the user's business."""
    found = access.cluster_for(user, organization, cluster)
    if found is None:
        raise Http404("There is no such page.")
    return ClusterPlace(organization, cluster, access.scope_of_organization(found.organization, found.pk))


def cluster_row(user: Person, organization: str, cluster: str) -> "Cluster":
    """Return the row of a cluster, for its settings. Raises Http404 as `cluster_of` does."""
    found = access.cluster_for(user, organization, cluster)
    if found is None:
        raise Http404("There is no such page.")
    return found


def room_of(user: Person, organization: str, workspace: str) -> Room:
    """Return a workspace as its settings see it. Raises Http404 as `place_of` does."""
    found = access.workspace_for(user, organization, workspace)
    if found is None:
        raise Http404("There is no such page.")
    address = Place(organization, workspace).settings
    return Room(found.organization, found, access.manages(user, found.organization), address)


def rooms_of(organization: "Organization") -> dict[str, list[Place] | list[ClusterPlace]]:
    """Return the workspaces and the clusters of an organization, by name."""
    workspaces, clusters = access.names_within(organization)
    return {
        "workspaces": [Place(organization.name, name) for name in workspaces],
        "clusters": [ClusterPlace(organization.name, name) for name in clusters],
    }


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send a browser to the login and back; a refresh in the background takes the whole page along."""
    there = redirect_to_login(request.get_full_path())
    return HttpResponseClientRedirect(there.url) if request.headers.get("HX-Request") else there


def signed_in(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Let only people through who have signed in, and only to names that there can be."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_sign_in(request)
        if any("\0" in str(name) for name in kwargs.values()):  # the database has no text with it
            raise Http404("There is no such page.")
        return view(request, *args, **kwargs)

    return guarded


@dataclass(frozen=True)
class OrganizationPlace:
    """An organization, for who runs it."""

    organization: str

    @property
    def name(self) -> str:
        return self.organization

    @property
    def address(self) -> str:
        return f"/organizations/{part(self.organization)}/settings"


def organization_of(user: Person, organization: str) -> "tuple[OrganizationPlace, Organization]":
    """Return an organization and its row for who runs it. Raises Http404 for any other."""
    found = access.organization_for(user, organization)
    if found is None:
        raise Http404("There is no such page.")
    return OrganizationPlace(organization), found
