"""The menu beside every page: the place one is at, its pages, the other places, the clusters."""

from dataclasses import dataclass

from dashboards.places import ClusterPlace, OrganizationPlace, Person, Place, clusters_of, places_of


@dataclass(frozen=True)
class Entry:
    """A page of the menu; `here`: it is the page one is at, or above it."""

    label: str
    address: str
    here: bool


@dataclass(frozen=True)
class Menu:
    """`title` is the place one is at; `entries` are its pages."""

    title: str
    entries: tuple[Entry, ...]
    places: tuple[Place, ...]
    clusters: tuple[Entry, ...]


def menu_of(user: Person, at: Place | ClusterPlace | OrganizationPlace, here: str) -> Menu:
    """Return the menu as `user` sees it at a place; `here` is the label of the page."""
    places, clusters = places_of(user), clusters_of(user)
    pages: tuple[tuple[str, str], ...] = ()
    if isinstance(at, Place):
        title, of = f"{at.organization} / {at.workspace}", at
        pages = (
            ("Goodput", of.address),
            ("By week", of.weekly),
            ("Runs", of.runs),
            ("Machines", of.machines),
            ("Pools", of.pools),
            ("Alerts", of.alerts),
            ("Log profiles", f"{of.base}/log-profiles"),
            ("Settings", of.settings),
        )
    else:
        title = f"{at.organization} (organization)"
        if isinstance(at, ClusterPlace):
            pages = (
                ("Goodput", at.address),
                ("By week", at.weekly),
                ("Machines", at.machines),
                ("Pools", at.pools),
                ("Settings", at.settings),
            )
        else:
            pages = (("Settings", at.address),)
    return Menu(
        title=title,
        entries=tuple(Entry(label, address, label == here) for label, address in pages),
        places=tuple(places),
        clusters=tuple(Entry(f"{c.organization} / {c.cluster}", c.address, c.address == at.address) for c in clusters),
    )
