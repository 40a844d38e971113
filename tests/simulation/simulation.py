"""One seed, one run: a world, its agents, a bad network and clock, actors that die, and a ledger that must be right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from random import Random
from typing import Any

from ledger.core.steady import ClockJump, Steady
from ledger.core.windows import floor_day, floor_hour
from tests import oracle
from tests.edges import has_old, without_the_old, younger
from tests.simulation.actors import Pause, beat, event, on_a_jump, stream, type_actor
from tests.simulation.agents import AFTERWARDS, Agent
from tests.simulation.clocks import ERROR_MAX, VirtualClock
from tests.simulation.stores import STORES, Store
from tests.simulation.truth import Truth, type_amounts
from tests.simulation.world import HOUR, World, draw_start, make_world
from tests.worlds import iso

MORTAL = ("ingest", "categorizer", "closer", "reader")
ASIDE = ("pruner", "alerter", "sender")  # they die, too, by dice of their own: a seed without them is the same run
DEADLINE = 3 * HOUR  # after the world's end: by then all that was written has arrived


class WrongLedger(AssertionError):
    """The ledger is not what was observed, or not what happened."""


@dataclass
class Tenant:
    """An organization: a world of its own, whose names other tenants use too, and its ledger."""

    world: World
    agents: list[Agent]
    store: Store
    received: list[dict[str, Any]] = field(default_factory=list)
    newest: str = ""  # the latest sent_at that was received
    counted: int = 0  # never read before this
    edge: int = 0  # nothing is kept before it
    has_refused: bool = False  # something came too late for the edge
    is_pruned: bool = False


class Simulation:
    """`say` hears of all that happens, to follow a seed."""

    def __init__(self, seed: int, store: str = "memory", say: Callable[[str], None] | None = None) -> None:
        self.seed, self.rng, self.hear = seed, Random(seed), say
        self.more = Random(f"{seed} aside")
        self.start = draw_start(self.rng)
        self.tenants = [self._tenant(store) for _ in range(self.rng.choice((1, 1, 1, 1, 2)))]
        self.end = max(tenant.world.end for tenant in self.tenants)
        self.true = self.start
        self.clock = VirtualClock(self.rng, self.start, self.end)
        self.steady = Steady()
        self.dying = self.rng.choice((0, 0.05, 0.2))
        self.marks: set[str] = {mark for tenant in self.tenants for mark in tenant.world.marks}
        self.marks |= {"two tenants"} if len(self.tenants) > 1 else set()
        self.queue: list[tuple[int, int, str, type_actor]] = []
        self.spawned = 0

    def _tenant(self, store: str) -> Tenant:
        world = make_world(self.rng, self.start)
        agents = [Agent(world, source, self.rng) for source in sorted(world.outages)]
        for agent in agents:
            agent.write()
        return Tenant(world, agents, STORES[store](world), is_pruned=self.more.random() < 0.5)

    def say(self, what: str) -> None:
        if self.hear is not None:
            self.hear(f"{iso(self.true)} {what}")

    # --- time ---

    def spawn(self, kind: str, actor: type_actor) -> None:
        self.spawned += 1
        heappush(self.queue, (self.true, self.spawned, kind, actor))

    def run(self) -> set[str]:
        """Run to the end and return the marks of what happened. Raises WrongLedger."""
        for tenant in self.tenants:
            for agent in tenant.agents:
                self.spawn("agent", stream(self, tenant, agent))
                for written, batch in agent.loose:
                    self.spawn("agent", event(self, tenant, written, batch))
            self.spawn("beat", beat(self, tenant))
            self.spawn("beat", on_a_jump(self, tenant))
        looks = sorted(self.rng.randint(self.start, self.end + AFTERWARDS) for _ in range(2))
        while any(kind != "beat" for _, _, kind, _ in self.queue):
            at, _, kind, actor = heappop(self.queue)
            while looks and looks[0] <= at:
                self.true = max(self.true, looks.pop(0))
                self.compare()
            self.true = max(self.true, at)
            self._resume(kind, actor)
        self._conclude()
        return self.marks

    def _resume(self, kind: str, actor: type_actor) -> None:
        pause: Pause | None = next(actor, None)
        if pause is None:
            return
        if (kind in MORTAL and self.rng.random() < self.dying) or (kind in ASIDE and self.more.random() < self.dying):
            self.marks.add(f"{kind} dies {pause.place}")
            self.say(f"{kind} dies {pause.place}")
            actor.close()
            return
        self.spawned += 1
        heappush(self.queue, (self.true + pause.lasts, self.spawned, kind, actor))

    def now(self, tenant: Tenant) -> int | None:
        """Return what a step counts at, None while the clock has just jumped."""
        try:
            clock = self.steady.take(self.clock.read(self.true), self.true)
        except ClockJump:
            self.marks.add("the clock jumps")
            self.say("the clock jumps")
            return None
        if clock > self.true + ERROR_MAX:
            raise WrongLedger(f"counted on a clock that is {clock - self.true} ms ahead")
        if clock < tenant.counted:
            self.marks.add("the clock steps back")
        if clock != self.true:
            self.marks.add(f"clock: {self.clock.shape}")
        tenant.counted = max(clock, tenant.counted)
        return tenant.counted

    # --- what actors do ---

    def take(self, tenant: Tenant, batch: dict[str, Any]) -> bool:
        now = self.now(tenant)
        if now is None or self._dies(tenant, "ingest", lambda: tenant.store.take(batch, now)):
            return False
        self.say(f"take at {iso(now)}: {batch}")
        if has_old(batch, tenant.edge):
            self.marks.add("too late for the edge")
            tenant.has_refused = True
        tenant.received.append(without_the_old(batch, tenant.edge) if tenant.edge else batch)
        self._mark_arrival(tenant, batch, now)
        return True

    def close(self, tenant: Tenant) -> None:
        now = self.now(tenant)
        if now is not None and not self._dies(tenant, "closer", lambda: tenant.store.close(now)):
            self.say(f"close at {iso(now)}")

    def categorize(self, tenant: Tenant) -> None:
        now = self.now(tenant)
        if now is not None and not self._dies(tenant, "categorizer", lambda: tenant.store.categorize(now)):
            self.say(f"categorize at {iso(now)}")

    def move(self, tenant: Tenant) -> None:
        """Move the edge to the midnight that is behind, as if nothing were kept for longer."""
        edge = floor_day(tenant.counted)
        if tenant.is_pruned and edge > max(tenant.edge, tenant.world.start):
            self._dies(tenant, "pruner", lambda: tenant.store.move(edge))
            tenant.edge = tenant.store.edge()
            if tenant.edge:
                self.marks.add("the edge moves")
                self.say(f"the edge is {iso(tenant.edge)}")

    def sweep(self, tenant: Tenant) -> None:
        if tenant.edge and not self._dies(tenant, "pruner", tenant.store.sweep):
            self.say("what was before the edge is removed")

    def judge(self, tenant: Tenant) -> None:
        if tenant.counted and not self._dies(tenant, "alerter", lambda: tenant.store.judge(tenant.counted)):
            self.say("alerts are judged")

    def tell(self, tenant: Tenant) -> None:
        fate = self.more.choice(("fine", "fine", "fine", "fails", "unanswered"))
        step = partial(tenant.store.tell, fails=fate == "fails", answers=fate != "unanswered")
        if not self._dies(tenant, "sender", step):
            self.say(f"alerts are told: {fate}")
        self.marks |= tenant.store.told(all_of_it=False)

    def _dies(self, tenant: Tenant, kind: str, step: Callable[[], None]) -> bool:
        """Take the step, or die at one of its statements: then what it had not committed never was."""
        dice = self.more if kind in ASIDE else self.rng
        if dice.random() >= self.dying:
            step()
            return False
        died = tenant.store.interrupt(step, dice.randint(1, 60))
        if died:
            self.marks.add(f"{kind} dies at a statement")
            self.say(f"{kind} dies at a statement")
        return died

    def read(self, tenant: Tenant) -> None:
        """What can be read at any time: nothing negative, nothing waiting on a machine, nothing held on none."""
        now = self.now(tenant)
        if now is None:
            return
        for (hour, run, machine, pool), lines in tenant.store.cells(now).items():
            asked = sum(amount for line, amount in lines.items() if not line.startswith("unobserved"))
            unobserved = lines.get("unobserved", 0)
            watched = min(lines.get("unobserved_productive", 0), lines.get("productive", 0))
            fine = all(amount > 0 for amount in lines.values()) and unobserved <= asked
            fine = fine and lines.get("unobserved_productive", 0) in (0, watched)
            placed = "waiting" not in lines
            unplaced = not {"productive", "idle", "starting", "restart"} & lines.keys()
            if not fine or not (unplaced if machine == "unplaced" else placed):
                raise WrongLedger(f"read at {now}: hour {hour} {run} {machine} {pool}: {lines}")

    # --- what must be right ---

    def compare(self) -> None:
        """The ledger knows what was observed by now, and nothing else."""
        for tenant in self.tenants:
            now = self.now(tenant)
            if now is not None:
                self._equal(tenant, now)

    def _equal(self, tenant: Tenant, now: int) -> type_amounts:
        tenant.store.categorize(now)
        kept = younger(tenant.store.cells(now), tenant.edge)
        wanted = younger(oracle.cells(tenant.received, tenant.world.settings, now), tenant.edge)
        if kept != wanted:
            raise WrongLedger(f"observed by {now}: {difference(kept, wanted)}")
        tenant.store.prove(now)
        return kept

    def _conclude(self) -> None:
        self.true = max(self.true, self.end + AFTERWARDS) + DEADLINE
        for tenant in self.tenants:
            now = self.now(tenant)
            assert now is not None, "the clock is long right again"
            kept = self._equal(tenant, now)
            happened = younger(Truth(tenant.world, self._ends(tenant)).amounts(now), tenant.edge)
            lines = {cell: {k: v for k, v in each.items() if "unobserved" not in k} for cell, each in kept.items()}
            if lines != happened and not tenant.has_refused:
                raise WrongLedger(f"happened: {difference(lines, happened)}")
            self.marks |= tenant.store.told(all_of_it=True)
            self.marks |= tenant.world.marks | {f"counted: {line}" for lines in kept.values() for line in lines}

    def _ends(self, tenant: Tenant) -> dict[tuple[str, str], int]:
        return {
            life.name: agent.last_seen(life)
            for agent in tenant.agents
            for life in agent.lives
            if life.vanished is not None
        }

    def _mark_arrival(self, tenant: Tenant, batch: dict[str, Any], now: int) -> None:
        if batch["sent_at"] < tenant.newest:
            self.marks.add("out of order")
        tenant.newest = max(tenant.newest, batch["sent_at"])
        if any(item["at"] < iso(floor_hour(now)) for item in batch.get("workers", ()) if not batch.get("complete")):
            self.marks.add("late for an hour that is over")


def difference(kept: type_amounts, wanted: type_amounts) -> str:
    cells = [cell for cell in sorted({*kept, *wanted}) if kept.get(cell) != wanted.get(cell)]
    return "; ".join(f"{cell}: {kept.get(cell)} should be {wanted.get(cell)}" for cell in cells[:3])


def simulate(seed: int, store: str = "memory") -> set[str]:
    """Run one seed and return its marks. Raises WrongLedger."""
    return Simulation(seed, store).run()
