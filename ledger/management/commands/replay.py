"""`manage.py replay` back-fills a trace or a dump by the same path as live observations."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger import queries
from ledger.core.totals import Ledger, gpu_hours, percent
from ledger.management import replaying, tenants
from ledger.management.feeding import Tally, feed
from ledger.management.progress import progress
from ledger.management.replaying import FORMATS, Told
from ledger.models import Cluster
from ledger.replay.wire import instant_text


class Command(BaseCommand):
    """Broken off, it can be started again: what was sent already is a duplicate and changes nothing."""

    help = "Back-fills a file of runs, moved by whole hours so that it ends now. Makes the tenants it needs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--organization", required=True, metavar="ORG")
        parser.add_argument("--cluster", required=True, metavar="NAME")
        parser.add_argument(
            "--workspace", metavar="NAME", help="of all runs; without it each goes to its own account's"
        )
        parser.add_argument("--timezone", metavar="ZONE", help="of the times in a text of sacct, as Europe/Paris")
        parser.add_argument(
            "--end-at",
            metavar="now|INSTANT|as-is",
            help="when the file's last instant is to be; default as-is for observations and for accounting of the "
            "last 400 days, else now",
        )

    def handle(
        self, *_: Any, file: Path, format: str, organization: str, cluster: str, workspace: str | None,  # noqa: A002
        end_at: str | None, timezone: str | None, **__: Any,
    ) -> None:  # fmt: skip
        told = replaying.read(file, format, timezone)
        if workspace is None and not told.has_workspaces:
            raise CommandError("this file names no accounts: --workspace says where its runs belong")
        target = self._tenants(told, organization, cluster, workspace)
        shift = self._shift(told, target, end_at or replaying.default_end(told, queries.now()))
        with progress(self.stdout, f"replay {file.name}", told.total) as advance:
            tally = feed(target, told.batches(shift, workspace), advance)
        self._sum_up(told, target, tally)

    def _tenants(self, told: Told, organization: str, cluster: str, workspace: str | None) -> Cluster:
        owner, new = tenants.make_organization(organization)
        self._say_if(new, "organization", owner.name)
        target, new = tenants.make_cluster(owner, cluster, readings=told.has_readings)
        self._say_if(new, "cluster", str(target))
        if workspace is not None:
            made, new = tenants.make_workspace(owner, workspace)
            self._say_if(new, "workspace", str(made))
        return target

    def _say_if(self, new: bool, what: str, name: str) -> None:
        if new:
            self.stdout.write(tenants.said(what, name, new))

    def _shift(self, told: Told, target: Cluster, end_at: str) -> int:
        found, now = replaying.shift_found(told, target), queries.now()
        shift = replaying.shift_for(told, end_at, found, now)
        replaying.refuse_what_is_too_old(told, shift, now)
        if found is not None:
            self.stdout.write("runs of this file are here already: going on with them, at the same time")
        hours = shift // 3_600_000
        self.stdout.write(
            f"from {instant_text(told.first + shift)} to {instant_text(told.last + shift)} ({hours:+,} h)"
        )
        return shift

    def _sum_up(self, told: Told, target: Cluster, tally: Tally) -> None:
        for note, count in sorted(told.notes.items()):
            self.stdout.write(f"{count:,} × {note}")
        for line in tally.lines():
            self.stdout.write(line)
        ledger = replaying.counted(target, told.uids)
        self.stdout.write(f"the ledger: {_figures(ledger.allocated, ledger.waiting)}")
        if told.says is not None:
            waited = told.says.first_wait + told.says.between
            self.stdout.write(f"the file:   {_figures(told.says.held, waited)}")
        self._unobserved(ledger)

    def _unobserved(self, ledger: Ledger) -> None:
        if ledger.unobserved_share is not None:
            share = percent(ledger.unobserved_share)
            self.stdout.write(
                f"{share} of the time held is unobserved: this cluster expects GPU readings, and the file has none"
            )


def _figures(held: int, waiting: int) -> str:
    return f"held {gpu_hours(held, 3)} GPU-hours, waiting {gpu_hours(waiting, 3)} GPU-hours"
