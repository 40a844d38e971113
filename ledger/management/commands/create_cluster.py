"""`manage.py create_cluster` makes a cluster that observations can be sent to."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.management import tenants


class Command(BaseCommand):
    """Saying it again changes nothing, neither what a cluster expects."""

    help = "Makes a cluster of an organization; one that is there stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", metavar="ORG")
        parser.add_argument("name", metavar="NAME")
        parser.add_argument(
            "--readings",
            choices=("expected", "none"),
            default="expected",
            help="none: nobody reads this cluster's GPUs, so running counts as watched without readings",
        )

    def handle(self, *_: Any, organization: str, name: str, readings: str, **__: Any) -> None:
        owner = tenants.organization_named(organization)
        cluster, new = tenants.make_cluster(owner, name, readings=readings == "expected")
        self.stdout.write(tenants.said("cluster", str(cluster), new))
