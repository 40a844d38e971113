"""The installation itself: settings, processes, the embedded Postgres."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Makes `manage.py up` and `manage.py doctor` known; has no tables."""

    name = "goodput_site"
    label = "goodput_site"
