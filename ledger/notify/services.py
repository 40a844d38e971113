"""Slack and other services, by the notification library: those whose hosts are fixed and public, and no others.

The library resolves and connects by itself, so whatever would let a target choose the host is not taken; a server of
one's own is reached by a webhook.
"""

from typing import Any

from ledger.notify.message import Message, NotSent, Setup
from ledger.notify.patience import within

SCHEMES = {
    "slack": "slack://TOKEN_A/TOKEN_B/TOKEN_C/#channel",
    "discord": "discord://WEBHOOK_ID/WEBHOOK_TOKEN",
    "tgram": "tgram://BOT_TOKEN/CHAT_ID",
    "pagerduty": "pagerduty://INTEGRATION_KEY@API_KEY",
    "opsgenie": "opsgenie://API_KEY",
    "pover": "pover://USER_KEY@TOKEN",
    "wxteams": "wxteams://TOKEN",
    "signl4": "signl4://SECRET",
}
SECONDS_MAX = 10
ALL_SECONDS = 20.0  # the library's own limits leave out the resolver
SLACK_HOOKS = "https://hooks.slack.com/services/"


def service_of(target: str) -> Any:
    """Return the library's service for a target. Raises NotSent for one that is not to be reached by it."""
    import apprise  # takes a third of a second, and few processes send anything

    scheme = target.partition("://")[0].lower()
    if not target.startswith(SLACK_HOOKS) and scheme not in SCHEMES:
        raise NotSent(
            f"only {', '.join(SCHEMES)} are reached so; for a server of your own take a webhook", for_good=True
        )
    service = apprise.Apprise.instantiate(target, suppress_exceptions=True)
    if service is None:
        raise NotSent("the service's address cannot be read", for_good=True)
    timeouts = (service.socket_connect_timeout, service.socket_read_timeout)
    if not service.verify_certificate or not all(0 < seconds <= SECONDS_MAX for seconds in timeouts):
        raise NotSent("how the service is spoken to is not the address's to say: verify, cto, rto", for_good=True)
    return service


def send(target: str, _: str, message: Message, __: Setup) -> None:
    """Send a message. Raises NotSent."""
    service = service_of(target)
    text = f"{message.text}\n{message.link}" if message.link else message.text
    try:
        took = within(ALL_SECONDS, lambda: service.notify(body=text, title=message.title))
    except TimeoutError:
        raise NotSent("the service did not answer in time") from None
    if not took:
        raise NotSent("the service did not take it")


def check(target: str, _: Setup) -> None:
    service_of(target)
