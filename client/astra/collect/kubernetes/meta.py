"""What every object has: who it is, whose it is, since when, and whether it is being deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from astra.collect.kubernetes import raw
from astra.collect.kubernetes.raw import BadObject, Raw


class Owner(NamedTuple):
    """The controller of an object."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True)
class Meta:
    """An object's metadata; instants in UTC ms. `deleted` is when its deletion was asked for."""

    uid: str
    name: str
    namespace: str
    version: str
    created: int
    deleted: int | None
    owner: Owner | None
    labels: dict[str, str]
    annotations: dict[str, str]


def meta_of(of: Raw) -> Meta:
    """Raises BadObject for an object that has no name, uid or time of creation."""
    meta = raw.mapping(of, "metadata")
    uid, name, created = raw.text(meta, "uid"), raw.text(meta, "name"), raw.instant(meta, "creationTimestamp")
    if not (uid and name) or created is None:
        raise BadObject(f"{raw.text(of, 'kind') or 'an object'} {name!r} has no uid, name or creationTimestamp")
    return Meta(
        uid,
        name,
        raw.text(meta, "namespace"),
        raw.text(meta, "resourceVersion"),
        created,
        _deleted(meta),
        _owner(meta),
        raw.texts(meta, "labels"),
        raw.texts(meta, "annotations"),
    )


def _deleted(meta: Raw) -> int | None:
    """The timestamp of a deletion lies ahead by its grace period."""
    by = raw.instant(meta, "deletionTimestamp")
    return None if by is None else by - 1000 * (raw.count(meta, "deletionGracePeriodSeconds") or 0)


def _owner(meta: Raw) -> Owner | None:
    """Return the controlling owner, else the only one."""
    owners = raw.items(meta, "ownerReferences")
    found = next((one for one in owners if one.get("controller") is True), owners[0] if len(owners) == 1 else None)
    if found is None or not raw.text(found, "uid"):
        return None
    return Owner(raw.text(found, "kind"), raw.text(found, "name"), raw.text(found, "uid"))
