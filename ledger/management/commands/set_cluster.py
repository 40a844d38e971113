"""manage.py set_cluster: how a cluster's samples are judged from now on."""

import argparse
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.core.categories import Category
from ledger.management.clusters import chosen_clusters
from ledger.rules import UNMEASURED, set_rule, set_thresholds

MINUTE = 60_000


def _percent(text: str) -> int:
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError("a percentage lies between 0 and 100")
    return round(value * 1000)


def _minutes(text: str) -> int:
    value = float(text)
    if not 1 <= value <= 1440:
        raise argparse.ArgumentTypeError("between 1 minute and 1440 (a day)")
    return round(value * MINUTE)


class Command(BaseCommand):
    help = (
        "Change a cluster's settings. Thresholds act on samples that arrive from now on; --unmeasured-as and "
        "--readings are in force from the next whole hour. Time already counted never changes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization")
        parser.add_argument("cluster")
        parser.add_argument("--busy-threshold-percent", type=_percent, help="a GPU is busy from here on (5)")
        parser.add_argument("--stall-after-minutes", type=_minutes, help="no progress for this long is a stall (10)")
        parser.add_argument("--carry-max-minutes", type=_minutes, help="how long a word or reading covers (5)")
        parser.add_argument("--unmeasured-as", choices=[category.label for category in UNMEASURED])
        parser.add_argument("--readings", choices=["expected", "none"], help="none: this cluster has no GPU readings")
        parser.add_argument("--auto-workspaces", choices=["on", "off"], help="make workspaces when first named")

    def handle(self, *_: Any, **options: Any) -> None:
        cluster = chosen_clusters(options["organization"], options["cluster"]).get()
        auto = options["auto_workspaces"]
        set_thresholds(
            cluster.pk,
            busy_milli_percent=options["busy_threshold_percent"],
            stall_after=options["stall_after_minutes"],
            carry_max=options["carry_max_minutes"],
            auto_workspaces=None if auto is None else auto == "on",
        )
        category, readings = options["unmeasured_as"], options["readings"]
        if category or readings:
            since = set_rule(
                cluster.pk,
                unmeasured_as=Category[category.upper()] if category else None,
                readings_expected=None if readings is None else readings == "expected",
            )
            self.stdout.write(f"{cluster}: in force from {_hour(since)} on")
        elif auto is None and not any(value for key, value in options.items() if key.endswith(("percent", "minutes"))):
            raise CommandError("Nothing to change: name a setting, see --help.")


def _hour(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
