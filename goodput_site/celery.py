"""The Celery application and the whole beat schedule.

Beat never catches up, and a task can come twice: every task looks for what is left to do and does it once.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")

MINUTE_SECONDS = 60.0


def every(seconds: float, task: str) -> dict[str, Any]:
    """One line of the schedule; a run that could not start before the next one is due is dropped."""
    return {"task": task, "schedule": seconds, "options": {"expires": seconds - 5}}


app = Celery("goodput")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    timezone="UTC",
    enable_utc=True,
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    beat_schedule={
        "categorize": every(MINUTE_SECONDS, "ledger.tasks.categorize"),
    },
)
app.autodiscover_tasks()
