"""`manage.py audit` lists what was changed about who may do what, the newest first."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.models import Change


class Command(BaseCommand):
    """One change a line: the instant, who made it, what, where, and the rest as JSON."""

    help = "Lists issued and ended tokens, members, admins, operators and settings that were changed, the newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", help="only what is of this organization")
        parser.add_argument("--limit", type=int, default=50, help="how many (50)")

    def handle(self, *_: Any, organization: str | None, limit: int, **__: Any) -> None:
        found = Change.objects.order_by("-at", "-pk")
        if organization is not None:
            found = found.filter(organization=organization)
        for change in found[: max(limit, 0)]:
            at = change.at.strftime("%Y-%m-%d %H:%M:%S UTC")
            said = [change.actor, change.what, change.organization, change.detail]
            self.stdout.write(f"{at} {' '.join(json.dumps(text) for text in said)}")
