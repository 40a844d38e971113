"""The pages."""

from django.apps import AppConfig


class DashboardsConfig(AppConfig):
    """Views, charts and bars; reads through ledger.queries only."""

    name = "dashboards"
    label = "dashboards"
    default_auto_field = "django.db.models.BigAutoField"
