"""manage.py prune: remove what is over 400 days old, as beat does every hour."""

import sys
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from ledger import queries
from ledger.core.windows import DAY
from ledger.management.clusters import add_cluster_arguments, chosen_clusters
from ledger.models import Cluster
from ledger.retention import EdgeLeaps, prune, prune_changes


class Command(BaseCommand):
    help = (
        "Remove hours, roll-ups and observations of more than 400 days ago. Nothing younger changes. Exit 1 when a "
        "cluster was not pruned, for its clock seems to have jumped."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_cluster_arguments(parser)
        parser.add_argument(
            "--accept-clock", action="store_true", help="the clock is right, though more than a day is to be removed"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        clusters = chosen_clusters(options["organization"], options["cluster"])
        done = [self._prune(cluster, options["accept_clock"]) for cluster in clusters]
        changes = prune_changes(queries.now() - settings.AUDIT_KEEP_DAYS * DAY)
        if changes:
            self.stdout.write(f"{changes} lines of the audit log removed")
        if not all(done):
            sys.exit(1)

    def _prune(self, cluster: Cluster, accept_clock: bool) -> bool:
        try:
            edge, rows, months = prune(cluster.pk, accept_clock=accept_clock)
        except EdgeLeaps as error:
            self.stderr.write(f"{cluster}: {error}")
            return False
        kept = "all is kept" if edge is None else f"kept from {datetime.fromtimestamp(edge // 1000, UTC):%Y-%m-%d} on"
        self.stdout.write(f"{cluster}: {kept}; {rows} rows and {months} months removed")
        return True
