"""manage.py evaluate_alerts: judge hours that became final and what is true now, as beat does every five minutes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.alerts import evaluate
from ledger.management.clusters import add_cluster_arguments, chosen_clusters


class Command(BaseCommand):
    help = "Judge each hour that became final, once, and what is true now. Saying it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        add_cluster_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        for cluster in chosen_clusters(options["organization"], options["cluster"]):
            hours, fired, resolved = evaluate(cluster.pk)
            self.stdout.write(f"{cluster}: {hours} hours judged, {fired} alerts fired, {resolved} resolved")
