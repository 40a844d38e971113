"""The channels of a workspace: which there are, new ones, tests, and what became of what they were to tell."""

from typing import NamedTuple
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from ledger import audit
from ledger.models import Channel, Delivery, Workspace
from ledger.notify import webhook
from ledger.notify.message import NotSent, Setup
from ledger.notify.outbox import CHECKS

CHANNELS_MAX = 50
RECENT = 20


class Refused(ValueError):
    """A channel that cannot be; the text says why."""


class ChannelRow(NamedTuple):
    """A channel as people see it: of its target no more than where it leads to."""

    id: int
    kind: str
    name: str
    where: str
    pools: tuple[str, ...]
    clusters: bool
    digest: bool


class DeliveryRow(NamedTuple):
    """What became of a delivery: sent, given up and why, or waiting; instants are ms."""

    channel: str
    event: str
    what: str
    made_at: int
    state: str
    attempts: int
    error: str


def listed(workspace: Workspace) -> list[ChannelRow]:
    """Return the channels of a workspace, by name."""
    found = Channel.objects.filter(workspace=workspace).order_by("name")
    return [ChannelRow(c.pk, c.kind, c.name, where(c), tuple(c.pools), c.clusters, c.digest) for c in found]


def where(of: Channel) -> str:
    """Return where a channel leads to, without what is secret about it."""
    if of.kind == "email":
        return of.target
    parts = urlsplit(of.target)
    return f"{parts.scheme}://{parts.hostname}/…" if of.kind == "webhook" else f"{parts.scheme}://…"


def recent(workspace: Workspace) -> list[DeliveryRow]:
    """Return what the channels of a workspace were last to tell, the newest first."""
    found = Delivery.objects.filter(channel__workspace=workspace).select_related("channel", "alert")
    return [_row(delivery) for delivery in found.order_by("-made_at", "-pk")[:RECENT]]


def _row(of: Delivery) -> DeliveryRow:
    state = "sent" if of.sent_at else "given up" if of.dead_at else "waits"
    what = f"{of.alert.rule} {of.alert.name}".strip() if of.alert else ""
    return DeliveryRow(
        of.channel.name, of.event, what, round(of.made_at.timestamp() * 1000), state, of.attempts, of.error
    )


def add(
    workspace: Workspace,
    kind: str,
    name: str,
    target: str,
    *,
    pools: list[str],
    clusters: bool,
    digest: bool,
    networks: tuple[str, ...] = (),
    ports: tuple[int, ...] = Setup().ports,
) -> str:
    """Add a channel, where networks that are not public may be reached only if they are of `networks`.

    Return the secret that signs what a webhook gets, to be shown once ("": none). Raises Refused.
    """
    try:
        CHECKS[kind](target, Setup(networks=networks, ports=ports))
    except NotSent as why:
        raise Refused(str(why)) from None
    secret = webhook.new_secret() if kind == "webhook" else ""
    mail = kind == "email"
    try:
        with transaction.atomic():
            Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
            if Channel.objects.filter(workspace=workspace).count() >= CHANNELS_MAX:
                raise Refused(f"a workspace has at most {CHANNELS_MAX} channels")
            Channel.objects.create(
                workspace=workspace, kind=kind, name=name, target=target, secret=secret,
                pools=pools, clusters=clusters, digest=digest and mail,
            )  # fmt: skip
            audit.record("channel_added", workspace.organization.name, workspace=str(workspace), kind=kind, name=name)
    except IntegrityError:
        raise Refused("there is a channel of this name already") from None
    return secret


def remove(workspace: Workspace, channel: int) -> bool:
    """Remove a channel with what it was yet to tell; False: there is none."""
    found = Channel.objects.filter(workspace=workspace, pk=channel).first()
    if found is None:
        return False
    with transaction.atomic():
        found.delete()
        organization = workspace.organization.name
        audit.record("channel_removed", organization, workspace=str(workspace), kind=found.kind, name=found.name)
    return True


def test(workspace: Workspace, channel: int) -> bool:
    """Put a test into the outbox, unless one waits there already; False: there is no such channel.

    Everybody's deliveries are sent from one outbox: nobody fills it by clicking.
    """
    with transaction.atomic():
        found = Channel.objects.select_for_update(no_key=True).filter(workspace=workspace, pk=channel).first()
        if found is None:
            return False
        if not Delivery.objects.filter(channel=found, event="test", sent_at=None, dead_at=None).exists():
            Delivery.objects.create(channel=found, event="test")
    return True
