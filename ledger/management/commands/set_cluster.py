"""manage.py set_cluster: how a cluster's samples are judged from now on."""

import argparse
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.core.categories import Category
from ledger.core.totals import GPU_US_PER_HOUR
from ledger.management.clusters import chosen_clusters
from ledger.rules import UNMEASURED, set_rule, set_thresholds

MINUTE = 60_000


def _percent(text: str) -> int:
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError("a percentage lies between 0 and 100")
    return round(value * 1000)


def _gpu_hours(text: str) -> int:
    value = float(text)
    if not 0 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError("GPU-hours lie between 0 and 1,000,000")
    return round(value * GPU_US_PER_HOUR)


def _minutes(text: str) -> int:
    value = float(text)
    if not 1 <= value <= 1440:
        raise argparse.ArgumentTypeError("between 1 minute and 1440 (a day)")
    return round(value * MINUTE)


def _ratio(text: str) -> int:
    value = float(text)
    if not 1.01 <= value <= 100:
        raise argparse.ArgumentTypeError("between 1.01 and 100 times the gang's step time")
    return round(value * 1000)


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
        parser.add_argument("--straggler-ratio", type=_ratio, help="a worker this slow beside its gang straggles (1.3)")
        parser.add_argument("--unmeasured-as", choices=[category.label for category in UNMEASURED])
        parser.add_argument("--readings", choices=["expected", "none"], help="none: this cluster has no GPU readings")
        parser.add_argument("--auto-workspaces", choices=["on", "off"], help="make workspaces when first named")
        parser.add_argument("--drop-below-percent", type=_percent, help="alert on a goodput under this (50) …")
        parser.add_argument("--drop-points-percent", type=_percent, help="… by so many points less than before (20) …")
        parser.add_argument("--drop-least-hours", type=_gpu_hours, help="… with so many GPU-hours held (1)")

    def handle(self, *_: Any, **options: Any) -> None:
        cluster = chosen_clusters(options["organization"], options["cluster"]).get()
        auto = options["auto_workspaces"]
        set_thresholds(
            cluster.pk,
            busy_milli_percent=options["busy_threshold_percent"],
            stall_after=options["stall_after_minutes"],
            carry_max=options["carry_max_minutes"],
            auto_workspaces=None if auto is None else auto == "on",
            drop_below=options["drop_below_percent"],
            drop_points=options["drop_points_percent"],
            drop_least_held=options["drop_least_hours"],
            straggler_milli=options["straggler_ratio"],
        )
        category, readings = options["unmeasured_as"], options["readings"]
        if category or readings:
            since = set_rule(
                cluster.pk,
                unmeasured_as=Category[category.upper()] if category else None,
                readings_expected=None if readings is None else readings == "expected",
            )
            self.stdout.write(f"{cluster}: in force from {_hour(since)} on")
        elif auto is None and all(
            value is None for key, value in options.items() if key.endswith(("percent", "minutes", "hours", "ratio"))
        ):
            raise CommandError("Nothing to change: name a setting, see --help.")


def _hour(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
