"""Keeps what was changed about who may do what: tokens, members, admins, operators, settings; and by whom.

What goes through the models is seen by signals, whoever changes it: commands, pages, Django's admin.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model
from django.db.models.signals import post_delete, post_save, pre_save
from django.http import HttpRequest, HttpResponse

from ledger.models import Administration, Change, Cluster, Invitation, Membership, Organization, Token

COMMAND_LINE = "command line"
SECRET = frozenset({"password"})
WATCHED: dict[type[Model], tuple[str, ...]] = {
    User: ("username", "password", "is_active", "is_staff", "is_superuser"),
    Cluster: (
        "auto_workspaces",
        "busy_threshold_milli_percent",
        "stall_after_ms",
        "carry_max_ms",
        "drop_below_milli_percent",
        "drop_points_milli",
        "drop_least_held_us",
        "straggler_milli",
    ),
    Organization: ("currency",),
    Token: ("expiry", "scopes", "workspace_id"),
}
_actor: ContextVar[Callable[[], str]] = ContextVar("actor")


def record(what: str, organization: str = "", **detail: Any) -> None:
    """Keep a change, in the transaction that makes it."""
    actor = _actor.get(lambda: COMMAND_LINE)()
    Change.objects.create(actor=actor, what=what, organization=organization, detail=detail)


@contextmanager
def acting(actor: Callable[[], str]) -> Iterator[None]:
    """Name who makes the changes within; `actor` is called when there is one."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


class ActorMiddleware:
    """Names the person of a request as the actor of what it changes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with acting(lambda: request.user.get_username() or "nobody"):
            return self.get_response(request)


def watch() -> None:
    """Listen to the models, once."""
    for model in WATCHED:
        pre_save.connect(_remember, sender=model, dispatch_uid=f"audit-before-{model.__name__}")
        post_save.connect(_changed, sender=model, dispatch_uid=f"audit-changed-{model.__name__}")
    for model, told in TOLD.items():
        post_save.connect(told.saved, sender=model, dispatch_uid=f"audit-saved-{model.__name__}")
        post_delete.connect(told.deleted, sender=model, dispatch_uid=f"audit-deleted-{model.__name__}")


def _remember(sender: type[Model], instance: Model, update_fields: frozenset[str] | None, **_: Any) -> None:
    """Keep the watched values as they are in the database, unless none of them is going to be saved."""
    fields = WATCHED[sender]
    touched = update_fields is None or not update_fields.isdisjoint(fields)
    before = None
    if touched and instance.pk is not None:
        before = sender._default_manager.filter(pk=instance.pk).values(*fields).first()
    instance.__dict__["_before"] = before


def _changed(sender: type[Model], instance: Any, **_: Any) -> None:
    before: Mapping[str, Any] = instance.__dict__.pop("_before", None) or {}
    changed = {name: getattr(instance, name) for name, value in before.items() if getattr(instance, name) != value}
    if not changed:
        return
    said = {name: None if name in SECRET else as_json(value) for name, value in changed.items()}
    kind = sender.__name__.lower()
    named = {} if isinstance(instance, Organization) else {kind: str(instance)}
    record(f"{kind}_changed", organization_of(instance), **named, changed=said)


def as_json(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str | list) else str(value)


def organization_of(instance: Any) -> str:
    if isinstance(instance, Organization):
        return instance.name
    organization = getattr(instance, "organization", None)
    return "" if organization is None else organization.name


class Told:
    """Tells of a model's rows that come and go, in its own words."""

    def __init__(self, added: str, removed: str, detail: Callable[[Any], dict[str, Any]]) -> None:
        self.added, self.removed, self.detail = added, removed, detail

    def saved(self, instance: Any, created: bool, **_: Any) -> None:
        if created:
            record(self.added, **self.detail(instance))

    def deleted(self, instance: Any, **_: Any) -> None:
        record(self.removed, **self.detail(instance))


def of_token(token: Token) -> dict[str, Any]:
    workspace = None if token.workspace is None else token.workspace.name
    return {
        "organization": token.organization.name,
        "workspace": workspace,
        "token": str(token),
        "scopes": list(token.scopes),
    }


def of_member(member: Membership) -> dict[str, Any]:
    workspace = member.workspace
    where = {"organization": workspace.organization.name, "workspace": workspace.name}
    return where | {"user": member.user.get_username()}


def of_admin(admin: Administration) -> dict[str, Any]:
    return {"organization": admin.organization.name, "user": admin.user.get_username()}


def of_invitation(invitation: Invitation) -> dict[str, Any]:
    workspace = None if invitation.workspace is None else invitation.workspace.name
    return {"organization": invitation.organization.name, "workspace": workspace, "made_by": invitation.made_by}


def of_user(user: User) -> dict[str, Any]:
    return {"user": user.get_username(), "operator": user.is_staff}


TOLD: dict[type[Model], Told] = {
    Token: Told("token_issued", "token_revoked", of_token),
    Membership: Told("member_added", "member_removed", of_member),
    Administration: Told("admin_added", "admin_removed", of_admin),
    Invitation: Told("invited", "invitation_withdrawn", of_invitation),
    User: Told("user_added", "user_removed", of_user),
}
