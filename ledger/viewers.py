"""How a person likes to read pages."""

from typing import Any
from zoneinfo import available_timezones

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ObjectDoesNotExist

from ledger.models import Viewer

ZONES = frozenset(available_timezones())  # read once: it walks the folders of the system


def zone_of(user: AbstractBaseUser | AnonymousUser) -> str:
    """Return the IANA name of a person's time zone, "" for UTC."""
    try:
        viewer: Viewer = user.viewer  # type: ignore[union-attr]  # the other side of Viewer.user
    except (AttributeError, ObjectDoesNotExist):
        return ""
    return viewer.zone


def set_zone(user: AbstractBaseUser, zone: str) -> None:
    """Show pages in a zone from now on. Raises ValueError for one that there is not."""
    if zone and zone not in ZONES:
        raise ValueError(f"there is no time zone {zone[:64]}")
    Viewer.objects.update_or_create(pk=user.pk, defaults={"zone": zone})


class Backend(ModelBackend):
    """Brings along how a person reads pages, in the statement that finds out who they are."""

    def get_user(self, user_id: Any) -> User | None:
        user = User.objects.select_related("viewer").filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
