"""The menu beside every page: the place one is at, its pages, the other places, the organizations one runs."""

from dataclasses import dataclass
from itertools import groupby

from dashboards.places import ClusterPlace, OrganizationPlace, Person, Place, clusters_of, places_of


@dataclass(frozen=True)
class Entry:
    """A page of the menu; `here`: it is the page one is at, or above it."""

    label: str
    address: str
    here: bool


@dataclass(frozen=True)
class Group:
    """An organization that one runs: its clusters, and its settings."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Menu:
    """`title` is the place one is at; `entries` are its pages."""

    title: str
    entries: tuple[Entry, ...]
    places: tuple[Place, ...]
    groups: tuple[Group, ...]


def menu_of(user: Person, at: Place | ClusterPlace | OrganizationPlace, here: str) -> Menu:
    """Return the menu as `user` sees it at a place; `here` is the label of the page."""
    return Menu(
        title=title_of(at),
        entries=tuple(Entry(label, address, label == here) for label, address in pages_of(at)),
        places=tuple(places_of(user)),
        groups=groups_of(clusters_of(user), at),
    )


def title_of(at: Place | ClusterPlace | OrganizationPlace) -> str:
    if isinstance(at, Place):
        return f"{at.organization} / {at.workspace}"
    return f"{at.organization} · {f'cluster {at.cluster}' if isinstance(at, ClusterPlace) else 'organization'}"


def pages_of(at: Place | ClusterPlace | OrganizationPlace) -> tuple[tuple[str, str], ...]:
    """Return the pages of a place: what is asked most first; how it is set up last."""
    if isinstance(at, OrganizationPlace):
        return ()
    shown = (("Goodput", at.address), ("By week", at.weekly))
    spots = (("Machines", at.machines), ("Pools", at.pools))
    if isinstance(at, ClusterPlace):
        return (*shown, *spots, ("Settings", at.settings))
    return (*shown, ("Runs", at.runs), *spots, ("Alerts", at.alerts), ("Settings", at.settings))


def groups_of(clusters: list[ClusterPlace], at: Place | ClusterPlace | OrganizationPlace) -> tuple[Group, ...]:
    """Return the organizations of clusters; the one whose settings one is at also without any."""
    found = {name: list(each) for name, each in groupby(clusters, lambda cluster: cluster.organization)}
    if isinstance(at, OrganizationPlace):
        found.setdefault(at.organization, [])
    return tuple(Group(name, tuple(entries_of(name, each, at))) for name, each in found.items())


def entries_of(
    organization: str, clusters: list[ClusterPlace], at: Place | ClusterPlace | OrganizationPlace
) -> list[Entry]:
    settings = OrganizationPlace(organization).address
    entries = [Entry(f"Cluster {each.cluster}", each.address, each.address == at.address) for each in clusters]
    return [*entries, Entry("Organization settings", settings, settings == at.address)]
