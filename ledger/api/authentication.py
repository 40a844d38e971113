"""Who asks: a bearer token, or a person's session where a view lets it in; and what they may do."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q
from django.db.models.functions import Now
from django.http import Http404
from knox import auth
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from ledger.access import Scope, organization_for, scope_of_organization, scope_of_workspace, workspaces_of
from ledger.api.problems import Problem
from ledger.decode import values
from ledger.models import Cluster, Organization, Token
from ledger.models.access import digest_of

SCHEME = "Bearer"
TOKEN_PARAMETERS = frozenset({"token", "access_token", "api_key", "apikey", "key", "authorization"})


class TokenAuthentication(auth.TokenAuthentication):  # type: ignore[misc]  # knox has no types
    """A token in the Authorization header. It is looked up each time: one that ended lets nobody in any more."""

    def authenticate_header(self, *_: object) -> str:
        return SCHEME

    def authenticate_credentials(self, token: bytes) -> tuple[AnonymousUser, Token]:
        """Return the token with nobody as its user. What is compared is a keyed hash, so its timing tells nothing."""
        alive = Q(expiry__isnull=True) | Q(expiry__gt=Now())
        known = Token.objects.select_related("organization", "workspace")
        found = known.filter(alive, digest=digest_of(token.decode("utf-8", "replace"))).first()
        if found is None:
            raise AuthenticationFailed("The token is not valid, or not any more.")
        return AnonymousUser(), found


class MayUse(BasePermission):
    """Lets in a token with one of the scopes that the view asks for, and a person where the view takes sessions."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, Token):
            return request.user.is_authenticated
        scopes: frozenset[str] = view.scopes  # type: ignore[attr-defined]  # every ApiView has them
        self.message = f"This needs a token with the scope {' or '.join(sorted(scopes))}."
        return not scopes.isdisjoint(request.auth.scopes)


def token_of(request: Request) -> Token:
    """Return the token that the request showed, where a view lets in nothing else."""
    assert isinstance(request.auth, Token), "the view takes tokens only"
    return request.auth


def scope_of(request: Request) -> Scope:
    """Return what the asker may see."""
    if not isinstance(request.auth, Token):
        assert isinstance(request.user, AbstractBaseUser), "the permission let in nobody else"
        return Scope(frozenset(workspace.pk for workspace in workspaces_of(request.user)))
    if request.auth.workspace is not None:
        return scope_of_workspace(request.auth.workspace)
    return scope_of_organization(request.auth.organization)


def scope_of_cluster(request: Request, organization: str, cluster: str) -> Scope:
    """Return all of an organization on one of its clusters, for who may see all of it.

    Raises Problem for a token of a workspace, Http404 for what there is not or is none of the asker's business.
    """
    if isinstance(request.auth, Token):
        of_organization(request.auth)
        found = request.auth.organization if request.auth.organization.name == exact(organization) else None
    else:
        found = organization_for(request.user, exact(organization))
    if found is None:
        raise Http404
    return scope_of_organization(found, cluster_of(found, cluster).pk)


def of_organization(token: Token) -> Token:
    """Return the token. Raises Problem when it is of one workspace."""
    if token.workspace is not None:
        raise Problem(403, "This needs a token of the organization; this one is of a workspace.")
    return token


def cluster_of(organization: Organization, name: str) -> Cluster:
    """Return the organization's cluster of that name. Raises Http404."""
    cluster = Cluster.objects.filter(organization=organization, name=exact(name)).first()
    if cluster is None:
        raise Http404
    return cluster


def exact(name: str) -> str:
    """Return a name of an address in the form in which names are kept. Raises Http404 when it cannot be one."""
    try:
        return values.name(name)
    except ValueError:
        raise Http404 from None
