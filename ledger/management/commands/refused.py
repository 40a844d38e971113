"""Print the items that were refused and why, the newest first, a line each."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.models import Refused


class Command(BaseCommand):
    """`refused [--organization ORG] [--cluster C] [--source S] [--limit N]`."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", help="only of its clusters")
        parser.add_argument("--cluster", help="only of clusters of that name")
        parser.add_argument("--source", help="only of that source")
        parser.add_argument("--limit", type=int, default=100, help="how many lines at most (100)")

    def handle(self, *_: Any, **options: Any) -> None:
        keys = {
            "cluster__organization__name": options["organization"],
            "cluster__name": options["cluster"],
            "source": options["source"],
        }
        asked = {key: value for key, value in keys.items() if value is not None}
        found = Refused.objects.filter(**asked).select_related("cluster__organization").order_by("-received_at", "-pk")
        for item in found[: max(options["limit"], 0)]:
            self.stdout.write(line(item))


def line(refused: Refused) -> str:
    """Return one line; what was sent is written as JSON in ASCII, so that it cannot disguise itself."""
    where = f"{refused.cluster} {json.dumps(refused.source)} {refused.list}[{refused.index}]"
    field = f" {json.dumps(refused.field)}" if refused.field else ""
    return f"{refused.received_at:%Y-%m-%dT%H:%M:%SZ} {where}{field}: {refused.error}: {json.dumps(refused.item)}"
