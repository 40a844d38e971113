"""Webhooks: the alert as JSON, signed, with a key that is the same when it is sent again."""

import hashlib
import hmac
import secrets
import time

import msgspec

from ledger.notify import http
from ledger.notify.message import Message, Setup


def new_secret() -> str:
    return secrets.token_hex(32)


def signature(secret: str, at: int, body: bytes) -> str:
    """Return what stands in the header: the second it was signed, and HMAC-SHA-256 of "second.body"."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def send(target: str, secret: str, message: Message, setup: Setup) -> None:
    """Send a message. Raises NotSent."""
    body = msgspec.json.encode(
        {"event": message.event, "title": message.title, "link": message.link, **message.document}
    )
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "goodput",
        "Idempotency-Key": message.key,
        "X-Goodput-Signature": signature(secret, int(time.time()), body),
    }
    http.post(target, body, headers, setup)


def check(target: str, setup: Setup) -> None:
    """Raise NotSent when nothing could ever be sent there; a name that does not resolve now may do so later."""
    http.check(target, setup)
