"""The installation: settings, addresses, processes. Nothing of the domain."""

from goodput_site.celery import app as celery_app

__all__ = ["celery_app"]
