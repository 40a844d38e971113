"""`manage.py doctor` asks whether this is a real, working installation."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from goodput_site.doctor import examine


class Command(BaseCommand):
    """Prints a line a finding; exits 1 when anything is wrong."""

    help = "Says in plain words what is missing or wrong for a real installation."
    requires_system_checks: list[str] = []

    def handle(self, *_: Any, **__: Any) -> None:
        wrong = 0
        for finding in examine(timezone.now()):
            wrong += not finding.well
            self.stdout.write(f"{'ok   ' if finding.well else 'WRONG'} {finding.text}")
        self.stdout.write(f"{wrong} wrong." if wrong else "All is well.")
        if wrong:
            sys.exit(1)
