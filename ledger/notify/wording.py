"""What a delivery says: an alert that fires or is over, a test, a week's digest."""

from ledger import queries
from ledger.access import scope_of_workspace
from ledger.core.parts import part
from ledger.models import Delivery
from ledger.notify.digest import digest_of
from ledger.notify.message import Message, NotSent, Setup
from ledger.queries.alerts import row_of
from ledger.writing import alerts


def message_of(delivery: Delivery, setup: Setup) -> Message:
    """Return the message of a delivery. Raises NotSent for an alert that was silenced meanwhile."""
    workspace = delivery.channel.workspace
    key = str(delivery.key)
    base = f"{setup.site}/w/{part(workspace.organization.name)}/{part(workspace.name)}"
    link = f"{base}/alerts" if setup.site else ""
    if delivery.event.startswith("digest"):
        return digest_of(key, delivery.event, workspace.name, scope_of_workspace(workspace), base if setup.site else "")
    if delivery.alert is None:
        text = f"This is a test of the channel {delivery.channel.name} of {workspace}. It works."
        return Message(key, "test", "Goodput: a test", text, link, document={"text": text})
    row = row_of(delivery.alert)
    if row.silenced_until is not None and row.silenced_until > queries.now():
        raise NotSent("the alert was silenced", for_good=True)
    sentence = alerts.sentence(row)
    over = delivery.event == "resolved"
    title = f"{'Over' if over else 'Alert'}: {row.rule} {row.name or row.cluster}"
    text = f"{sentence}.\n\n{'This is over.' if over else alerts.ADVICE[row.rule]}"
    return Message(key, delivery.event, title, text, link, document={"alert": alerts.alert(row)})
