"""manage.py confirm_vanished: a source's lists lack most of its workers, and that is real."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.management.clusters import add_cluster_arguments, chosen_clusters
from ledger.models import Source


class Command(BaseCommand):
    help = "Say that a mass vanishing is real: the source's next list counts instead of being put aside."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="the source's name, such as kubernetes/east")
        add_cluster_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        clusters = chosen_clusters(options["organization"], options["cluster"])
        held = Source.objects.filter(cluster__in=clusters, held_since__isnull=False)
        if not held.filter(name=options["source"]).update(confirmed=True):
            names = ", ".join(sorted(held.values_list("name", flat=True))) or "none"
            raise CommandError(f"No list of {options['source']!r} is put aside. Sources with lists put aside: {names}.")
        self.stdout.write(f"{options['source']}: its next complete list counts")
