"""Three weeks of an organization on two clusters, and a little of another organization's, under the same names."""

from dataclasses import dataclass

from ledger import queries
from ledger.batches import Batch, MachineItem
from ledger.categorizer import categorize
from ledger.core.categories import Phase
from ledger.core.windows import DAY, HOUR, WEEK, floor_hour
from ledger.decode.values import iso
from ledger.ingest import ingest
from ledger.models import Cluster, Token
from tests.api.conftest import Api, Tenants
from tests.dashboards.world import MINUTE, reading, run, small, state

FORMULA = '=HYPERLINK("http://127.0.0.1/","look")'


@dataclass(frozen=True)
class History:
    """`edge` is the end of the last closed hour; every amount before it stays as it is."""

    now: int
    edge: int
    tenants: Tenants
    west: Cluster
    reader: str
    admin: str

    def closed(self, days: int = 21) -> dict[str, str]:
        return {"start": iso(self.edge - days * DAY), "end": iso(self.edge)}


def make_history(api: Api) -> History:
    tenants = api.tenants
    now = queries.now()
    edge = floor_hour(now)
    west = Cluster.objects.create(organization=tenants.acme, name="west")
    begin = edge - 3 * WEEK
    tell(tenants.east, batch(now, begin, "", "speech"))
    tell(west, batch(now, begin + 2 * DAY, "w-", "vision"))
    tell(tenants.foreign_east, batch(now, begin, "f-", "vision"))
    return History(now, edge, tenants, west, api.token("read"), Token.issue(tenants.acme, None, ["admin"])[1])


def tell(cluster: Cluster, of: Batch) -> None:
    categorize(cluster)
    receipt = ingest(cluster, of)
    assert receipt.refused == [], receipt.refused
    categorize(cluster)


def batch(now: int, begin: int, prefix: str, other: str) -> Batch:
    """A gang that has gone on for three weeks and is stalled now, one that waits, and small runs that are over."""
    told = Batch("test", now, seen_from=begin)
    told.machines = [MachineItem(0, f"gpu-{n}", "h100" if n < 3 else "a100", 8000, True) for n in range(1, 5)]
    gang(told, f"{prefix}llm", begin, now)
    run(told, f"{prefix}queued", "bo", begin)
    state(told, f"{prefix}queued", "worker-0", begin, Phase.PENDING, gpus_milli=16_000)
    for number in range(6):
        small(
            told,
            f"{prefix}sweep-{number}",
            begin + number * 3 * DAY,
            hours=20 + number,
            machine=f"gpu-{number % 4 + 1}",
        )
    small(told, FORMULA, begin + DAY, hours=9, user="+cmd")
    run(told, f"{prefix}choir", "sol", begin, workspace=other)
    state(told, f"{prefix}choir", "worker-0", begin, Phase.RUNNING, gpus_milli=142, machine="gpu-4", pool="a100")
    reading(told, f"{prefix}choir", "worker-0", begin + DAY, busy=50_000)
    return told


def gang(told: Batch, name: str, begin: int, now: int) -> None:
    """Two workers that waited, started, ran, failed, and were placed again; one is stalled, for 38 minutes now."""
    run(told, name, "ana", begin)
    for number in (0, 1):
        worker, machine = f"worker-{number}", f"gpu-{number + 1}"
        state(told, name, worker, begin, Phase.PENDING, gpus_milli=8000)
        state(told, name, worker, begin + 2 * HOUR, Phase.STARTING, machine=machine, pool="h100")
        state(told, name, worker, begin + 3 * HOUR, Phase.RUNNING)
        reading(told, name, worker, begin + 4 * HOUR, busy=95_000)
        state(told, name, worker, begin + WEEK, Phase.FAILED, reason="failure")
        state(told, name, worker, begin + WEEK + HOUR, Phase.PENDING, attempt=2)
        state(told, name, worker, begin + WEEK + 3 * HOUR, Phase.RUNNING, attempt=2, machine=machine, pool="h100")
        reading(told, name, worker, begin + 2 * WEEK, busy=1_000, step=1204)
    state(told, name, "worker-1", now - 38 * MINUTE, Phase.NONE, stalled=True)
