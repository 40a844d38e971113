"""manage.py rebuild: make the ledger again from its evidence."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.management.clusters import add_cluster_arguments, chosen_clusters
from ledger.rebuilding import rebuild


class Command(BaseCommand):
    help = "Make spans, cells and roll-ups again from the observations: repairs what check_ledger finds."

    def add_arguments(self, parser: CommandParser) -> None:
        add_cluster_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        for cluster in chosen_clusters(options["organization"], options["cluster"]):
            done = 0
            for done in rebuild(cluster.pk):
                if self.stderr.isatty():
                    self.stderr.write(f"\r{cluster}: {done} runs made again", ending="")
            self.stdout.write(f"{cluster}: {done} runs made again; check_ledger says whether all is well")
