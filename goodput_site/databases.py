"""The database that DATABASE_URL names."""

from __future__ import annotations

from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

ENGINE = "django.db.backends.postgresql"
SHAPE = "DATABASE_URL must look like postgres://user:password@host:port/name"
NOWHERE = {"ENGINE": ENGINE, "HOST": "127.0.0.1", "PORT": "1", "NAME": "none"}


def database_of(url: str) -> dict[str, Any]:
    """Django's DATABASES entry. Raises ImproperlyConfigured, without the password that the URL may have."""
    try:
        found: dict[str, Any] = environ.Env.db_url_config(url)
    except (ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured(SHAPE) from None
    if found.get("ENGINE") != ENGINE or not found.get("NAME"):
        raise ImproperlyConfigured(SHAPE)
    return found


def whole_number(text: str, name: str) -> int:
    """The number that a setting gives, at least 1. Raises ImproperlyConfigured."""
    if not (text.isdecimal() and int(text) > 0):
        raise ImproperlyConfigured(f"{name} must be a whole number from 1 on, not {text!r}")
    return int(text)
