"""The Celery application and the whole beat schedule.

Beat never catches up, and a task can come twice: every task looks for what is left to do and does it once.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery, signals
from celery.worker import state

from goodput_site.garbage import collect_seldom
from goodput_site.processes import die_with_supervised_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")

MINUTE_SECONDS = 60.0
HOUR_SECONDS = 3600.0


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
        "evaluate_alerts": every(5 * MINUTE_SECONDS, "ledger.tasks.evaluate_alerts"),
        "send_notifications": every(MINUTE_SECONDS, "ledger.tasks.send_notifications"),
        "prune": every(HOUR_SECONDS, "ledger.tasks.prune"),
        "freeze_measurements": every(MINUTE_SECONDS, "ledger.tasks.freeze_measurements"),
        "sweep_buckets": every(HOUR_SECONDS, "ledger.tasks.sweep_buckets"),
    },
)
app.autodiscover_tasks()


@signals.worker_process_init.connect
def begin_in_the_pool(**_: Any) -> None:
    """A pool process does not outlive a killed worker, and has all that it will ever load."""
    die_with_supervised_parent()
    collect_seldom()


@signals.worker_ready.connect
def catch_up(**_: Any) -> None:
    """Beat's first round comes an interval after its start: look at once what was left while nothing ran."""
    for entry in app.conf.beat_schedule.values():
        app.send_task(entry["task"], **entry["options"])


@signals.worker_shutting_down.connect
def leave_when_idle(**_: Any) -> None:
    """A supervised worker with nothing in hand goes at once; Celery would first poll twice more."""
    if os.environ.get("GOODPUT_SUPERVISED") and not state.reserved_requests and not state.active_requests:
        os._exit(0)


@signals.celeryd_init.connect
@signals.beat_init.connect
def refuse_without_broker(**_: Any) -> None:
    """Say what is missing instead of trying a broker that nobody named."""
    if not app.conf.broker_url:
        raise SystemExit("CELERY_BROKER_URL is not set; `manage.py doctor` says what else is missing.")
