"""The domain: from observations to hourly ledgers."""

from typing import Any

from django.apps import AppConfig
from django.apps import apps as all_apps
from django.db.models.signals import post_migrate


def _make_special_rows(apps: Any = all_apps, **_: Any) -> None:
    """Make the rows that stand for "none" where their tables are; another app may be migrated before this one.

    A flush sends no `apps`: then all tables are there.
    """
    from ledger import sql

    try:
        apps.get_model("ledger", "Machine")
    except LookupError:
        return
    sql.execute("special_rows")


class LedgerConfig(AppConfig):
    """Tables, steps and queries of the ledger."""

    name = "ledger"
    label = "ledger"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from ledger import audit

        post_migrate.connect(_make_special_rows, sender=self)
        audit.watch()
