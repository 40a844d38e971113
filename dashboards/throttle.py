"""Slows down who guesses passwords: a few failures for one name from one address, some more from an address.

Counts live in the cache and are forgotten by themselves. Nobody can lock somebody else out from elsewhere.
"""

from collections.abc import Iterator
from hashlib import sha256

from django.core.cache import cache

FAILURES_MAX = 5
FAILURES_MAX_OF_ADDRESS = 50
FORGOTTEN_AFTER_SECONDS = 300


def counters(name: str, address: str) -> Iterator[tuple[str, int]]:
    """Yield the cache keys that count for an attempt, each with its limit."""
    of_name = sha256(f"{name.casefold()}\0{address}".encode()).hexdigest()
    yield f"login-{of_name}", FAILURES_MAX
    yield f"login-{sha256(address.encode()).hexdigest()}", FAILURES_MAX_OF_ADDRESS


def is_blocked(name: str, address: str) -> bool:
    """Whether an attempt must wait, the right password or not."""
    return any(cache.get(key, 0) >= limit for key, limit in counters(name, address))


def failed(name: str, address: str) -> None:
    """Count a failure."""
    for key, _ in counters(name, address):
        if not cache.add(key, 1, FORGOTTEN_AFTER_SECONDS):
            try:
                cache.incr(key)
            except ValueError:  # forgotten between the two lines
                cache.add(key, 1, FORGOTTEN_AFTER_SECONDS)


def succeeded(name: str, address: str) -> None:
    """Forget the failures of this name from this address."""
    (of_name, _), *_ = counters(name, address)
    cache.delete(of_name)
