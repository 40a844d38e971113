"""The outbox: what is to be told is written in the transaction in which it came about, and sent afterwards.

A sender claims one delivery for `LEASE` seconds by a conditional UPDATE, sends it, and says so. One that dies leaves
its claim to run out, and another sends it again under the same key: everything is told at least once.
"""

import logging
from time import monotonic

from django.db import transaction
from django.db.models import Q

from ledger import sql
from ledger.models import Alert, Channel, Delivery
from ledger.notify import email, services, webhook
from ledger.notify.message import NotSent, Setup
from ledger.notify.wording import message_of

LEASE = 30
SECONDS_MAX = 40.0
ATTEMPTS_MAX = 8
BACK_OFF = 30
BACK_OFF_MAX = 3_600
SENDERS = {"email": email.send, "webhook": webhook.send, "service": services.send}
CHECKS = {"email": email.check, "webhook": webhook.check, "service": services.check}

log = logging.getLogger(__name__)


def put(alert: Alert, event: str) -> int:
    """Note that an alert fired or was resolved, for each channel that is to tell it; return how many.

    Only who was told that it fires is told that it is over.
    """
    channels = Channel.objects.all()
    if alert.workspace_id is None:
        of = Q(clusters=True, workspace__organization=alert.cluster.organization_id)
    else:
        of = Q(workspace=alert.workspace_id)
    channels = channels.filter(of)
    if alert.pool:
        channels = channels.filter(Q(pools=[]) | Q(pools__contains=[alert.pool]))
    if event == "resolved":
        channels = channels.filter(delivery__alert=alert, delivery__event="firing")
    made = [Delivery(channel=channel, alert=alert, event=event) for channel in channels.order_by("pk")]
    Delivery.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)


def send_due(setup: Setup, seconds: float = SECONDS_MAX) -> int:
    """Send what is due, one after the other, for so long at most, and return how many were tried.

    Whoever sends counts nothing meanwhile: other sides that never answer must not keep a worker from the ledgers.
    """
    end, tried = monotonic() + seconds, 0
    while monotonic() < end and send_one(setup):
        tried += 1
    return tried


def send_one(setup: Setup) -> bool:
    """Claim what has been due longest and send it; False: nothing is due."""
    with transaction.atomic():
        claimed = sql.rows("delivery_claim", lease=LEASE)
    if not claimed:
        return False
    ((number, attempt),) = claimed
    if attempt > ATTEMPTS_MAX:
        _failed(number, attempt, NotSent("whoever sent it died each time", for_good=True))
        return True
    delivery = Delivery.objects.select_related("channel__workspace__organization").get(pk=number)
    try:
        message = message_of(delivery, setup)
        SENDERS[delivery.channel.kind](delivery.channel.target, delivery.channel.secret, message, setup)
    except NotSent as why:
        _failed(number, attempt, why)
    except Exception:  # one that nobody foresaw must not hold up the others
        log.exception("delivery %d", number)
        _failed(number, attempt, NotSent("this server made a mistake; its log says which"))
    else:
        with transaction.atomic():
            sql.run("delivery_sent", delivery=number)
    return True


def _failed(delivery: int, attempt: int, why: NotSent) -> None:
    dead = why.for_good or attempt >= ATTEMPTS_MAX
    wait = min(BACK_OFF * 2 ** (attempt - 1), BACK_OFF_MAX)
    with transaction.atomic():
        sql.run("delivery_failed", delivery=delivery, attempt=attempt, error=str(why), dead=dead, wait=wait)
    log.warning("delivery %d, attempt %d%s: %s", delivery, attempt, ", given up" if dead else "", why)
