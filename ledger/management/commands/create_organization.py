"""`manage.py create_organization` makes the first tenant without a browser."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.management import tenants


class Command(BaseCommand):
    """Saying it again changes nothing."""

    help = "Makes an organization; one that is there stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", metavar="ORG")

    def handle(self, *_: Any, organization: str, **__: Any) -> None:
        made, new = tenants.make_organization(organization)
        self.stdout.write(tenants.said("organization", made.name, new))
