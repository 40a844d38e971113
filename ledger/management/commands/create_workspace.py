"""`manage.py create_workspace` makes a workspace before its first run names it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ledger.management import tenants


class Command(BaseCommand):
    """Saying it again changes nothing."""

    help = "Makes a workspace of an organization; one that is there stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", metavar="ORG")
        parser.add_argument("name", metavar="NAME")

    def handle(self, *_: Any, organization: str, name: str, **__: Any) -> None:
        workspace, new = tenants.make_workspace(tenants.organization_named(organization), name)
        self.stdout.write(tenants.said("workspace", str(workspace), new))
