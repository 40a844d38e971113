"""The domain: from observations to hourly ledgers."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """Tables, steps and queries of the ledger."""

    name = "ledger"
    label = "ledger"
    default_auto_field = "django.db.models.BigAutoField"
