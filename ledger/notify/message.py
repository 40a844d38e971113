"""What is sent, in the words of every channel."""

from dataclasses import dataclass, field
from typing import Any


class NotSent(Exception):
    """A channel did not take a message; the text says why and has nothing of what the other side answered.

    `for_good`: trying again would not help.
    """

    def __init__(self, why: str, *, for_good: bool = False) -> None:
        super().__init__(why)
        self.for_good = for_good


@dataclass(frozen=True, slots=True)
class Message:
    """`key` is the same whenever this is sent again; `images` are PNGs by the names that `html` has for them."""

    key: str
    event: str
    title: str
    text: str
    link: str = ""
    html: str = ""
    images: dict[str, bytes] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setup:
    """What the operator set up: who mail is from, the address of this site, networks and ports that may be reached."""

    site: str = ""
    mail_from: str = ""
    networks: tuple[str, ...] = ()
    ports: tuple[int, ...] = (443, 8443)
