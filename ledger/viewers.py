"""How a person likes to read pages."""

from zoneinfo import available_timezones

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from ledger.models import Viewer


def zone_of(user: AbstractBaseUser | AnonymousUser) -> str:
    """Return the IANA name of a person's time zone, "" for UTC."""
    if not user.is_authenticated:
        return ""
    return Viewer.objects.filter(pk=user.pk).values_list("zone", flat=True).first() or ""


def set_zone(user: AbstractBaseUser, zone: str) -> None:
    """Show pages in a zone from now on. Raises ValueError for one that there is not."""
    if zone and zone not in available_timezones():
        raise ValueError(f"there is no time zone {zone[:64]}")
    Viewer.objects.update_or_create(pk=user.pk, defaults={"zone": zone})
