"""A small cluster that has had a bad week, and the people who look at it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from ledger import queries
from ledger.batches import Batch, MachineItem, ReadingItem, RunItem, WorkerItem
from ledger.categorizer import categorize
from ledger.core.categories import Phase
from ledger.core.windows import DAY, HOUR, floor_hour
from ledger.ingest import ingest
from ledger.models import Administration, Cluster, Membership, Organization, Workspace

MINUTE = 60_000
PASSWORD = "swordfish-7"
MARKUP = """<img src=x onerror="document.title='broken'">"""
CLOSING = """"'></script></table><script>document.title='broken'</script>"""
FORMULA = '=HYPERLINK("http://127.0.0.1/","look")'


@dataclass(frozen=True)
class World:
    """`edge` is the last full hour: everything before it is closed and stays as it is."""

    now: int
    edge: int
    vision: Workspace
    speech: Workspace
    hidden: Workspace
    east: Cluster


def make_world(sweeps: int = 3) -> World:
    """Fill two days of a workspace with `sweeps` small runs and some large ones, and a little of a second one."""
    now = queries.now()
    acme, globex = (Organization.objects.create(name=name) for name in ("acme", "globex"))
    vision, speech, empty = (
        Workspace.objects.create(organization=acme, name=name) for name in ("vision", "speech", "empty room")
    )
    hidden = Workspace.objects.create(organization=globex, name="hidden")
    east = Cluster.objects.create(organization=acme, name="east")
    categorize(east)
    receipt = ingest(east, everything(now, sweeps))
    assert receipt.refused == [], receipt.refused
    people(vision, speech, empty, hidden)
    return World(now, floor_hour(now), vision, speech, hidden, east)


def more_runs(world: World, count: int) -> None:
    """Add small runs, all of them over."""
    batch = Batch("test/east", world.now, seen_from=world.edge - 2 * DAY)
    for number in range(count):
        small(batch, f"trial-{number:03d}", world.edge - 40 * HOUR + number * MINUTE, hours=2 + number % 5)
    assert ingest(world.east, batch).refused == []


def more_workers(world: World) -> None:
    """Add 56 workers to the largest run, each of which began a second after the one before."""
    batch = Batch("test/east", world.now, seen_from=world.edge)
    held = {"gpus_milli": 1000, "machine": "gpu-5", "pool": "h100"}
    for number in range(4, 60):
        state(batch, "llm", f"worker-{number}", world.edge - HOUR + number * 1000, Phase.RUNNING, **held)
    assert ingest(world.east, batch).refused == []


def people(vision: Workspace, speech: Workspace, empty: Workspace, hidden: Workspace) -> None:
    """Ana is a member of two workspaces, Adam an admin, Olga an operator, Eve of elsewhere, Nora of nothing."""
    users = {name: User.objects.create_user(name, password=PASSWORD) for name in ("ana", "adam", "eve", "nora", "sol")}
    User.objects.create_user("olga", password=PASSWORD, is_staff=True)
    Membership.objects.create(user=users["ana"], workspace=vision)
    Membership.objects.create(user=users["ana"], workspace=empty)
    Membership.objects.create(user=users["sol"], workspace=speech)
    Membership.objects.create(user=users["eve"], workspace=hidden)
    Administration.objects.create(user=users["adam"], organization=vision.organization)


def everything(now: int, sweeps: int) -> Batch:
    begin = floor_hour(now) - 2 * DAY
    batch = Batch("test/east", now, seen_from=begin)
    batch.machines = [MachineItem(0, f"gpu-{n}", "h100", 8000, True) for n in range(1, 6)]
    batch.machines.append(MachineItem(0, MARKUP, CLOSING, 8000, True))
    gang(batch, begin, now)
    for number in range(sweeps):
        small(batch, f"sweep-{number:03d}", begin + number * MINUTE, hours=3 + number % 7)
    for name in (MARKUP, CLOSING, FORMULA):
        small(batch, name, begin + 5 * HOUR, hours=9, machine=MARKUP, user=name)
    run(batch, "queued", "bo", begin)
    state(batch, "queued", "worker-0", begin, Phase.PENDING, gpus_milli=16_000)
    run(batch, "choir", "sol", begin, workspace="speech")
    state(batch, "choir", "worker-0", begin, Phase.RUNNING, gpus_milli=1000, machine="gpu-4", pool="h100")
    return batch


def gang(batch: Batch, begin: int, now: int) -> None:
    """Four workers wait, start, run, fail, wait again, start again, run; one has been stalled for 38 minutes."""
    run(batch, "llm", "ana", begin)
    for number in range(4):
        name, machine = f"worker-{number}", f"gpu-{number + 1}"
        state(batch, "llm", name, begin, Phase.PENDING, gpus_milli=8000)
        state(batch, "llm", name, begin + 2 * HOUR, Phase.STARTING, machine=machine, pool="h100")
        state(batch, "llm", name, begin + 2 * HOUR + 10 * MINUTE, Phase.RUNNING)
        state(batch, "llm", name, begin + 20 * HOUR, Phase.FAILED, reason="failure")
        state(batch, "llm", name, begin + 21 * HOUR, Phase.PENDING, attempt=2)
        state(batch, "llm", name, begin + 22 * HOUR, Phase.STARTING, attempt=2, machine=machine, pool="h100")
        state(batch, "llm", name, begin + 23 * HOUR, Phase.RUNNING, attempt=2)
        reading(batch, "llm", name, begin + 3 * HOUR, busy=95_000)
        reading(batch, "llm", name, begin + 30 * HOUR, busy=1_000)
        reading(batch, "llm", name, begin + 33 * HOUR, busy=95_000, step=1204)
    state(batch, "llm", "worker-3", now - 38 * MINUTE, Phase.NONE, stalled=True)


def small(batch: Batch, name: str, begin: int, hours: int, machine: str = "gpu-5", user: str = "bo") -> None:
    """One GPU for some hours, the last of them preempted."""
    run(batch, name, user, begin)
    pool = CLOSING if machine == MARKUP else "h100"
    state(batch, name, "worker-0", begin, Phase.RUNNING, gpus_milli=1000, machine=machine, pool=pool)
    state(batch, name, "worker-0", begin + (hours - 1) * HOUR, Phase.STOPPING, reason="preemption")
    state(batch, name, "worker-0", begin + hours * HOUR, Phase.ENDED)


def run(batch: Batch, name: str, user: str, submitted: int, workspace: str = "vision") -> None:
    batch.runs.append(RunItem(0, f"uid-{name}", workspace, name, "PyTorchJob", user, submitted, None, None, None))


def state(batch: Batch, name: str, worker: str, at: int, phase: Phase, **fields: Any) -> None:
    empty = {"reason": "", "attempt": None, "gpus_milli": None, "machine": None, "pool": None, "stalled": None}
    batch.workers.append(WorkerItem(0, f"uid-{name}", worker, at, phase, **{**empty, **fields}))


def reading(batch: Batch, name: str, worker: str, at: int, busy: int, step: int | None = None) -> None:
    batch.readings.append(ReadingItem(0, f"uid-{name}", worker, at, None, busy, step, None))
