"""Slows down who guesses passwords: a few attempts for one name from one address, some more from an address.

An attempt is counted before its password is looked at, so that many at once are no way around; one that succeeds is
taken back. Nobody can lock somebody else out from elsewhere.
"""

from ledger import throttling
from ledger.throttling import Rate

FORGOTTEN_AFTER_SECONDS = 300
OF_NAME = Rate(5, FORGOTTEN_AFTER_SECONDS)
OF_ADDRESS = Rate(50, FORGOTTEN_AFTER_SECONDS)


def keys(name: str, address: str) -> tuple[str, str]:
    """Return the keys of the buckets that count for an attempt: of the name there, and of the address."""
    return f"sign-in {name.casefold()}\0{address}", f"sign-in {address}"


def begin(name: str, address: str) -> bool:
    """Count an attempt; whether it may go on, the right password or not."""
    of_name, of_address = keys(name, address)
    return not throttling.spend(of_name, OF_NAME) and not throttling.spend(of_address, OF_ADDRESS)


def succeeded(name: str, address: str) -> None:
    """Forget the failures of this name from this address."""
    of_name, of_address = keys(name, address)
    throttling.fill(of_name)
    throttling.give_back(of_address)
