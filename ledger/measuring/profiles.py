"""Log profiles of an organization: the built-in ones, and its own in their versions."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from django.db import transaction

from ledger import audit
from ledger.decode import values
from ledger.logs.builtin import BUILTIN
from ledger.logs.matching import Matcher
from ledger.logs.profiles import BadProfile, parse
from ledger.models import LogProfile, Organization

PROFILES_MAX = 500


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A profile in one version; 0 = built in. `organization` is "" for what is every organization's."""

    name: str
    version: int
    document: dict[str, Any]
    organization: str = ""
    created_at: Any = None
    created_by: str = ""

    @property
    def builtin(self) -> bool:
        return self.version == 0


def builtin(name: str) -> StoredProfile | None:
    document = BUILTIN.get(name)
    return None if document is None else StoredProfile(name, 0, document)


def builtins() -> list[StoredProfile]:
    return [StoredProfile(name, 0, document) for name, document in BUILTIN.items()]


def stored(row: LogProfile) -> StoredProfile:
    return StoredProfile(row.name, row.version, row.document, row.organization.name, row.created_at, row.created_by)


def newest_of(organizations: list[int]) -> list[StoredProfile]:
    """Return the newest version of each profile of the organizations, by name."""
    rows = (
        LogProfile.objects.filter(organization__in=organizations)
        .select_related("organization")
        .order_by("organization", "name", "-version")
        .distinct("organization", "name")
    )
    return sorted((stored(row) for row in rows if not row.retired), key=lambda one: (one.name, one.organization))


def find(organizations: list[int], name: str, version: int | None = None) -> StoredProfile | None:
    """Return a profile by its name, the newest version unless another is asked for; built-in names come first."""
    if name in BUILTIN:
        return builtin(name) if not version else None
    rows = LogProfile.objects.filter(organization__in=organizations, name=name).select_related("organization")
    if version is not None:
        rows = rows.filter(version=version)
    row = rows.order_by("organization__name", "-version").first()
    return None if row is None or (row.retired and version is None) else stored(row)


def versions_of(organization: int, name: str) -> list[StoredProfile]:
    """Return every version that there was, the newest first."""
    rows = LogProfile.objects.filter(organization=organization, name=name).select_related("organization")
    return [stored(row) for row in rows.order_by("-version")]


def plain(document: dict[Any, Any]) -> dict[str, Any]:
    """Return a document as it is kept: what JSON and the database have a form for. Raises BadProfile."""
    try:
        text = msgspec.json.encode(document)
        found: dict[str, Any] = msgspec.json.decode(text)
    except (TypeError, ValueError, RecursionError, OverflowError):
        raise BadProfile("profile", "must be made of texts, numbers, lists and objects") from None
    if b"\\u0000" in text:
        raise BadProfile("profile", "must not have a NUL character in a text")
    return found


def check(document: Any) -> Matcher:
    """Return the matcher of a document. Raises BadProfile."""
    return Matcher(parse(document))


def save(organization: Organization, name: str, document: dict[str, Any], actor: str) -> StoredProfile:
    """Keep a profile as its next version; the same document again is the version that there is. Raises BadProfile."""
    if name in BUILTIN:
        raise BadProfile("metadata.name", f"{name} is a built-in profile; copy it under another name")
    try:
        name = values.name(name)
    except ValueError as error:
        raise BadProfile("metadata.name", f"{error}") from None
    check(document)
    with transaction.atomic():
        Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
        before = LogProfile.objects.filter(organization=organization, name=name).order_by("-version").first()
        if before is not None and not before.retired and before.document == document:
            return stored(before)
        if before is None and LogProfile.objects.filter(organization=organization).count() >= PROFILES_MAX:
            raise BadProfile("metadata.name", f"an organization has at most {PROFILES_MAX} profiles")
        version = 1 if before is None else before.version + 1
        row = LogProfile.objects.create(
            organization=organization, name=name, version=version, document=document, created_by=actor
        )
        audit.record("log_profile_saved", organization.name, profile=name, version=version)
    row.refresh_from_db()
    return stored(row)


def retire(organization: Organization, name: str) -> bool:
    """Take a profile out of the list; measurements keep the version that they use. False: there is none."""
    with transaction.atomic():
        changed = LogProfile.objects.filter(organization=organization, name=name, retired=False).update(retired=True)
        if changed:
            audit.record("log_profile_retired", organization.name, profile=name)
    return bool(changed)


def matcher_of(document: dict[str, Any]) -> Matcher:
    """Return the matcher of a kept document, compiled once in a process."""
    return _compiled(msgspec.json.encode(document))


@lru_cache(maxsize=64)
def _compiled(text: bytes) -> Matcher:
    return check(msgspec.json.decode(text))
