"""A fleet of a given size, as it would be after five minutes of an hour; made by SQL, for a million is many."""

from dataclasses import dataclass
from datetime import datetime

from bench import ground
from bench.clock import MINUTE, moment
from ledger.batches import Batch, WorkerItem
from ledger.core.categories import Category, Phase
from ledger.models import Cluster, Organization, Source, Word, Worker, Workspace

SOURCE = "bench"
SLICES = 100
COUNTED = 5  # the minute up to which a new fleet is counted


@dataclass(frozen=True)
class Fleet:
    """Workers with the ids [first, first + size) of a cluster whose open hour began at `hour` (ms)."""

    cluster: Cluster
    size: int
    hour: int
    first: int

    def at(self, minute: int) -> int:
        """Return the instant of a minute, ms."""
        return self.hour + minute * MINUTE

    def members(self, of: int) -> range:
        """Return the ids of the workers of a slice, 1 … 100."""
        return range(self.first + of - 1, self.first + self.size, SLICES)


def make(size: int, hour: int) -> Fleet:
    """Make the only fleet there is."""
    ground.run("fleet_drop")
    organization = Organization.objects.create(name="bench")
    began = moment(hour)
    cluster = Cluster.objects.create(
        organization=organization, name=f"fleet-{size}", open_hour=began, first_hour=began, final_to=began,
        checked_to=moment(hour + COUNTED * MINUTE),
    )  # fmt: skip
    workspace = Workspace.objects.create(organization=organization, name="research")
    source = Source.objects.create(cluster=cluster, name=SOURCE, word_at=moment(hour + COUNTED * MINUTE))
    Word.objects.create(source=source, lower=began, upper=moment(hour + 2 * COUNTED * MINUTE))
    ground.run("fleet_names", cluster=cluster.pk, workspace=workspace.pk, workers=size)
    where: dict[str, int | str | datetime] = {"cluster": cluster.pk, "workers": size, "hour": began}
    ground.run("fleet_workers", **where, source=source.pk, source_name=SOURCE)
    first = Worker.objects.order_by("pk").values_list("pk", flat=True)[0]
    return Fleet(cluster, size, hour, first)


def take_readings(fleet: Fleet, minute: int) -> None:
    """Leave what a minute's readings leave."""
    ground.run("readings", cluster=fleet.cluster.pk, first=fleet.first, at=moment(fleet.at(minute)), minute=minute)


@dataclass(frozen=True)
class Change:
    """A slice that changes at an instant (ms): half of it fails, half is preempted and waits."""

    at: int
    workers: range

    def batch(self, fleet: Fleet, sent_at: int) -> Batch:
        """Return it as a source would tell it."""
        items = []
        for index, worker in enumerate(self.workers):
            run, place = divmod(worker - fleet.first, 8)
            phase, reason, attempt = (Phase.FAILED, "", 1) if index % 2 else (Phase.PENDING, "preemption", 2)
            items.append(
                WorkerItem(
                    index, f"run-{run}", f"worker-{place}", self.at, phase, reason, attempt, None, None, None, None
                )
            )
        return Batch(SOURCE, sent_at, workers=items)

    def rows(self) -> dict[str, list[int | None]]:
        """Return it for the design that adds each minute: the categories, and machine 0 for those that wait."""
        count = len(self.workers)
        kinds = [Category.FAILURE if index % 2 else Category.PREEMPTION for index in range(count)]
        return {
            "workers": list(self.workers),
            "categories": [int(kind) for kind in kinds],
            "machines": [None if kind is Category.FAILURE else 0 for kind in kinds],
        }
