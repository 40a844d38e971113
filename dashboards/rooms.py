"""A workspace or an organization as its settings see it: what it is, and what who looks may change."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import tokens
from ledger.tokens import TokenRow

if TYPE_CHECKING:
    from ledger.access import Organization, Workspace


@dataclass(frozen=True)
class Room:
    """`workspace` None = the organization; `manages`: who looks runs the organization; `address` is the page's."""

    organization: "Organization"
    workspace: "Workspace | None"
    manages: bool
    address: str

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of tokens that who looks may make and end."""
        return tokens.SCOPES if self.manages else tokens.MEMBERS_SCOPES

    def may_end(self, token: TokenRow) -> bool:
        return set(token.scopes) <= set(self.scopes)
