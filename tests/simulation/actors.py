"""Who acts on a simulated ledger: each a generator that pauses at its I/O, where it can be dropped as in a crash."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tests.simulation.agents import Agent, type_batch
from tests.simulation.world import MINUTE, SECOND

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation, Tenant


class Pause(NamedTuple):
    """Go on in so many ms; `place` says where it stands if it dies there."""

    lasts: int
    place: str = ""


type_actor = Generator[Pause, None, None]


@dataclass
class Reply:
    """What a sender has heard of a request."""

    done: bool = False


def ingest(simulation: "Simulation", tenant: "Tenant", batch: type_batch, reply: Reply) -> type_actor:
    """The web: take a batch in one transaction and answer."""
    yield Pause(simulation.rng.randint(0, 900), "before its transaction")
    if not simulation.take(tenant, batch):
        return
    yield Pause(simulation.rng.randint(0, 900), "before its answer")
    reply.done = True


def send(simulation: "Simulation", tenant: "Tenant", batch: type_batch) -> type_actor:
    """An agent sends a batch until it has an answer; the network loses and delays what it likes."""
    rng, marks = simulation.rng, simulation.marks
    while True:
        fate = rng.choice(("fine", "fine", "fine", "fine", "lost", "unanswered", "late"))
        if fate == "late":
            marks.add("delayed")
            yield Pause(rng.choice((MINUTE, 10 * MINUTE, 50 * MINUTE)))
        if fate == "lost":
            marks.add("lost and sent again")
            yield Pause(rng.choice((5 * SECOND, MINUTE, 10 * MINUTE)))
            continue
        reply = Reply()
        simulation.spawn("ingest", ingest(simulation, tenant, batch, reply))
        yield Pause(4 * SECOND)
        if fate != "unanswered" and reply.done:
            return
        marks.add("sent twice" if fate == "unanswered" else "sent again without an answer")


def stream(simulation: "Simulation", tenant: "Tenant", agent: Agent) -> type_actor:
    """Words, readings and lists: each is sent when the one before has been answered."""
    for written, batch in agent.ordered:
        yield Pause(max(0, written - simulation.true))
        yield from send(simulation, tenant, batch)


def event(simulation: "Simulation", tenant: "Tenant", written: int, batch: type_batch) -> type_actor:
    """Events: each goes its own way, so they arrive in any order."""
    yield Pause(max(0, written - simulation.true))
    yield from send(simulation, tenant, batch)


def categorizer(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    yield Pause(simulation.rng.randint(0, 900), "before it closes hours")
    simulation.close(tenant)
    yield Pause(simulation.rng.randint(0, 900), "before it counts")
    simulation.categorize(tenant)
    yield Pause(0, "before its acknowledgement")


def closer(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    yield Pause(simulation.rng.randint(0, 900), "before it closes hours")
    simulation.close(tenant)


def reader(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    yield Pause(simulation.rng.randint(0, 900), "before it reads")
    simulation.read(tenant)


def pruner(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    yield Pause(simulation.more.randint(0, 900), "before it moves the edge")
    simulation.move(tenant)
    yield Pause(simulation.more.randint(0, 900), "before it removes")
    simulation.sweep(tenant)


def alerter(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    yield Pause(simulation.more.randint(0, 900), "before it judges")
    simulation.judge(tenant)


def sender(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    yield Pause(simulation.more.randint(0, 900), "before it sends")
    simulation.tell(tenant)


def beat(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    """The schedule: now and then twice at once, now and then silent for an hour."""
    rng = simulation.rng
    while True:
        yield Pause(rng.choice((MINUTE, 10 * MINUTE, 20 * MINUTE)))
        for _ in range(rng.choice((1, 1, 1, 2))):
            simulation.spawn("categorizer", categorizer(simulation, tenant))
        if rng.random() < 0.3:
            simulation.spawn("closer", closer(simulation, tenant))
        simulation.spawn("reader", reader(simulation, tenant))
        for kind, actor, share in (("pruner", pruner, 0.7), ("alerter", alerter, 0.7), ("sender", sender, 0.7)):
            if simulation.more.random() < share:
                simulation.spawn(kind, actor(simulation, tenant))
        if rng.random() < 0.15:
            simulation.marks.add("nobody counts for an hour")
            yield Pause(65 * MINUTE)


def on_a_jump(simulation: "Simulation", tenant: "Tenant") -> type_actor:
    """While the clock is hours off, everybody tries."""
    begin, _ = simulation.clock.jumps
    yield Pause(max(0, begin + SECOND - simulation.true))
    for kind, actor in (("categorizer", categorizer), ("closer", closer), ("reader", reader)):
        simulation.spawn(kind, actor(simulation, tenant))
