"""`manage.py export` writes a cluster's observations as NDJSON, which `replay --format observations` takes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection, transaction

from ledger import sql
from ledger.management import exporting, tenants
from ledger.replay.wire import lines_of


class Command(BaseCommand):
    """One snapshot; told to another cluster with the same settings it gives the same ledger."""

    help = "Writes a cluster's observations to standard output, as NDJSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, metavar="ORG")
        parser.add_argument("--cluster", required=True, metavar="NAME")

    def handle(self, *_: Any, organization: str, cluster: str, **__: Any) -> None:
        with transaction.atomic():
            if not connection.savepoint_ids:
                sql.execute("snapshot")
            for batch in exporting.batches(tenants.cluster_named(organization, cluster)):
                self.stdout.write("".join(lines_of(batch)), ending="")
