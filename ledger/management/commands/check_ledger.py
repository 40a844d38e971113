"""manage.py check_ledger: fold the evidence again and compare every cell and roll-up."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.categorizer import categorize
from ledger.checks import Findings, check
from ledger.core.windows import ceil_hour, floor_hour
from ledger.management.clusters import add_cluster_arguments, chosen_clusters, instant

SHOWN = 100


class Command(BaseCommand):
    help = "Fold the observations again and compare every span, cell and roll-up. Exit 1 on any difference."

    def add_arguments(self, parser: CommandParser) -> None:
        add_cluster_arguments(parser)
        parser.add_argument("--start", type=instant, help="only from this instant on (its whole hour)")
        parser.add_argument("--end", type=instant, help="only up to this instant (its whole hour)")

    def handle(self, *_: Any, **options: Any) -> None:
        start = None if options["start"] is None else floor_hour(options["start"])
        end = None if options["end"] is None else ceil_hour(options["end"])
        differences = 0
        for cluster in chosen_clusters(options["organization"], options["cluster"]):
            counted_until = categorize(cluster).counted_until
            findings = Findings()
            for findings in check(cluster.pk, counted_until, start, end):
                self._progress(f"{cluster}: {findings.workers} workers, {findings.hours} hours checked")
            self._report(str(cluster), findings)
            differences += len(findings.differences)
        if differences:
            sys.exit(1)

    def _progress(self, text: str) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{text}", ending="")

    def _report(self, cluster: str, findings: Findings) -> None:
        if self.stderr.isatty():
            self.stderr.write("")
        for line in findings.differences[:SHOWN]:
            self.stdout.write(f"{cluster}: {line}")
        if len(findings.differences) > SHOWN:
            self.stdout.write(f"{cluster}: … and {len(findings.differences) - SHOWN} more")
        for line in findings.overcommitted[:SHOWN]:
            self.stdout.write(f"{cluster}: overcommitted, which is no difference: {line}")
        self.stdout.write(
            f"{cluster}: {len(findings.differences)} differences in {findings.workers} workers and "
            f"{findings.hours} hours"
        )
