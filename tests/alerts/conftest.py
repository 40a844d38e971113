"""The cluster on a scripted clock."""

from tests.ledger.conftest import east

__all__ = ["east"]
