"""Alerts as the pages show them: those that are firing, in words."""

from dataclasses import dataclass

from dashboards.places import ClusterPlace, Person, Place, cluster_row
from ledger import access, queries
from ledger.access import Watched
from ledger.queries import AlertRow
from ledger.writing import alerts

FIRST = 5


@dataclass(frozen=True)
class Told:
    """An alert, in words."""

    row: AlertRow
    text: str
    advice: str


@dataclass(frozen=True)
class Firing:
    """How many alerts are firing, the first of them, and the page of all ("": there is none)."""

    count: int
    shown: tuple[Told, ...]
    address: str


def told(row: AlertRow) -> Told:
    return Told(row, alerts.sentence(row), alerts.ADVICE[row.rule])


def watched_at(user: Person, place: Place | ClusterPlace) -> Watched:
    """Return whose alerts are shown at a place: a workspace's, and its clusters' to who sees all of those."""
    if isinstance(place, ClusterPlace):
        return access.watched_at(cluster_row(user, place.organization, place.cluster))
    assert place.scope is not None, "the place was let through"
    return access.watched_by(user, place.scope)


def firing(user: Person, place: Place | ClusterPlace) -> Firing:
    """Return what is firing at a place, the newest first."""
    page = queries.alerts(watched_at(user, place), firing=True, limit=FIRST)
    address = place.alerts if isinstance(place, Place) else ""
    return Firing(page.count, tuple(told(row) for row in page.rows), address)
