"""manage.py categorize: the minute's work by hand."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.categorizer import categorize
from ledger.core.steady import ClockJump
from ledger.management.clusters import add_cluster_arguments, chosen_clusters
from ledger.models import Cluster
from ledger.straggling import look


class Command(BaseCommand):
    help = "Count what time alone has changed, close hours that are over, roll up days: what beat does each minute."

    def add_arguments(self, parser: CommandParser) -> None:
        add_cluster_arguments(parser)
        parser.add_argument("--once", action="store_true", help="count once and end (without it: each minute)")
        parser.add_argument("--batch-size", type=int, default=1000, help="workers in one transaction")

    def handle(self, *_: Any, **options: Any) -> None:
        while True:
            for cluster in chosen_clusters(options["organization"], options["cluster"]):
                self._count(cluster, options["batch_size"])
            if options["once"]:
                return
            time.sleep(60 - time.time() % 60)

    def _count(self, cluster: Cluster, batch_size: int) -> None:
        try:
            done = categorize(cluster, batch_size=batch_size)
            look(cluster)
        except ClockJump as jump:
            self.stderr.write(f"{cluster}: {jump}")
            return
        self.stdout.write(
            f"{cluster}: {done.workers} workers counted again, {done.hours} hours closed, {done.days} days rolled up"
        )
