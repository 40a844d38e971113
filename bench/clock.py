"""Instants of measurements, in ms."""

from datetime import UTC, datetime

MINUTE = 60_000


def moment(ms: int) -> datetime:
    """Return an instant as the ORM takes it."""
    return datetime.fromtimestamp(ms / 1000, UTC)
