"""The domain: from observations to hourly ledgers."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def _make_special_rows(**_: Any) -> None:
    from ledger import sql

    sql.execute("special_rows")


class LedgerConfig(AppConfig):
    """Tables, steps and queries of the ledger."""

    name = "ledger"
    label = "ledger"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(_make_special_rows, sender=self)
