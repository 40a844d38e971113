"""The operations page names every setting, and none that is not there."""

from __future__ import annotations

import re

from goodput_site.celery import app
from goodput_site.places import CHECKOUT

SITE = [CHECKOUT / "goodput_site" / name for name in ("settings.py", "places.py", "management/commands/up.py")]
READ = re.compile(r"(?:env\.\w+|environ\.get|environ\)\.get)\(\s*\"([A-Z_]+)\"")
OUR_OWN = {"GOODPUT_DOCTOR", "GOODPUT_PROCESS"}  # told by one of our processes to another
PAGE = (CHECKOUT / "docs" / "operations.md").read_text()


def test_every_setting_is_in_the_table_and_the_table_has_no_other() -> None:
    read = {name for path in SITE for name in READ.findall(path.read_text())} - OUR_OWN
    written = set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE))
    assert {"GOODPUT_STATE", "PORT", "DATABASE_URL", "SECRET_KEY", "WEB_WORKERS"} <= read
    assert read == written


def test_every_scheduled_task_is_in_the_table() -> None:
    written = set(re.findall(r"^\| `(ledger\.tasks\.\w+)` \|", PAGE, re.MULTILINE))
    assert written == {entry["task"] for entry in app.conf.beat_schedule.values()}
