"""What really happens in a seeded world: gangs of workers that wait, start, run, hang, fail, are preempted and end.

Each life is drawn once and kept twice: as the states and samples that an agent could see, and as pieces of truth
with the category that the world itself means, so that nothing of the ledger's rules is needed to add them up.
Instants are UTC ms, GPUs milli-GPUs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from tests.evidence import Rule, Settings
from tests.worlds import DAY, HOUR, MINUTE, MONDAY

SECOND = 1_000
RUNNING = "running"
GPUS = (8, 8, 4, 1, 0.5, 0.142, 2.125)


class Piece(NamedTuple):
    """[start, end) of a worker's life; `category` is the world's word, RUNNING where samples decide."""

    start: int
    end: int
    category: str
    gpus_milli: int
    machine: str
    pool: str


class Sample(NamedTuple):
    at: int
    busy: Any
    step: int | None
    doing: str = ""


@dataclass
class Life:
    """One worker: what can be seen of it, and what is true. `vanished`: when it was deleted without a word."""

    run: str
    worker: str
    source: str
    states: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    stays: list[tuple[int, int]] = field(default_factory=list)
    vanished: int | None = None

    @property
    def name(self) -> tuple[str, str]:
        return self.run, self.worker


@dataclass
class World:
    settings: Settings
    start: int
    end: int
    step_seconds: float | None
    machines: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    lives: list[Life]
    outages: dict[str, list[tuple[int, int]]]
    marks: set[str]


class Maker:
    """Draws a world from a random source."""

    def __init__(self, rng: Random, start: int) -> None:
        self.rng, self.start = rng, start
        self.grid = rng.choice((1, 1, SECOND, 30 * SECOND))
        self.end = self.start + rng.choice((80, 150, 240)) * MINUTE
        self.marks: set[str] = set()
        self.sources = ["agent", "slurm"][: rng.choice((1, 2))]
        self.machines = [f"gpu-{k}" for k in range(rng.randint(1, 4))]
        self.pools = ["h100", "a100"][: rng.choice((1, 2))]
        self.pool_of = {machine: rng.choice(self.pools) for machine in self.machines}

    def lasts(self, low: int, high: int) -> int:
        """Return a time on the world's grid, at least one cell of it."""
        return max(self.grid, self.rng.randint(low, high) // self.grid * self.grid)

    def world(self) -> World:
        rng = self.rng
        outages = {source: list(self._outages()) for source in self.sources}
        names = ["llm", "llm" if rng.random() < 0.5 else "vit"]
        runs = [
            {"uid": f"uid-{k}", "workspace": rng.choice(("vision", "speech")), "name": names[k], "user": "ana"}
            for k in range(rng.choice((1, 2)))
        ]
        if len(runs) == 2 and names[0] == names[1]:
            self.marks.add("a run's name is reused")
        world = World(
            self._settings(), self.start, self.end, rng.choice((None, 2, 150)),
            [{"name": m, "pool": self.pool_of[m], "gpus": 8} for m in self.machines], runs, [], outages, self.marks,
        )  # fmt: skip
        for run in runs:
            self._gang(world, run["uid"])
        if self.start // DAY != self.end // DAY:
            self.marks.add("midnight")
        return world

    def _settings(self) -> Settings:
        rules = ()
        if self.rng.random() < 0.3:
            rules = (Rule((self.start // HOUR + 1) * HOUR, "idle", self.rng.choice((True, False))),)
            self.marks.add("a dated setting")
        return Settings(stall_after=self.rng.choice((600_000, 240_000)), rules=rules)

    def _outages(self) -> Iterator[tuple[int, int]]:
        if self.rng.random() < 0.4:
            begin = self.rng.randint(self.start, self.end)
            self.marks.add("a source is away")
            yield begin, begin + self.rng.choice((7, 20, 65)) * MINUTE

    def _gang(self, world: World, run: str) -> None:
        size = self.rng.choice((1, 1, 2, 3))
        begin = self.start + self.lasts(0, (self.end - self.start) // 3)
        tells = [index == 0 or self.rng.random() < 0.3 for index in range(size)]
        for index in range(size):
            worker = "master-0" if index == 0 else f"worker-{index}"
            life = Life(run, worker, self.rng.choice(self.sources))
            Lifetime(self, world, life, begin).live()
            Sampling(self, world, life, tells[index]).sample()
            world.lives.append(life)


class Lifetime:
    """One worker's phases, drawn one after the other."""

    def __init__(self, maker: Maker, world: World, life: Life, begin: int) -> None:
        self.maker, self.rng, self.world, self.life, self.at = maker, maker.rng, world, life, begin
        self.gpus = maker.rng.choice(GPUS)
        self.attempt, self.machine = 1, ""
        self.pool = maker.rng.choice(maker.pools)

    def live(self) -> None:
        self.say(phase="pending", gpus=self.gpus, pool=self.pool)
        self.piece("waiting", self.maker.lasts(SECOND, 20 * MINUTE), placed=False)
        goes_on = True
        while goes_on and self.at < self.world.end:
            self.machine = self.rng.choice(self.maker.machines)
            self.pool = self.maker.pool_of[self.machine]
            self.say(phase="starting", machine=self.machine, attempt=self.attempt)
            self.piece("starting" if self.attempt == 1 else "restart", self.maker.lasts(SECOND, 9 * MINUTE))
            self.run()
            goes_on = self.stop()
            self.attempt += 1
        if self.life.vanished is None and self.at >= self.world.end:
            self.life.states.append((self.world.end, {"phase": "ended", "reason": "time_limit"}))

    def run(self) -> None:
        self.say(phase="running")
        begin = self.at
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.piece(RUNNING, self.maker.lasts(MINUTE, 50 * MINUTE))
            if self.goes_on():
                self.stay(begin)
                begin = self.at
        self.stay(begin)

    def stay(self, begin: int) -> None:
        end = min(self.at, self.world.end)
        if begin < end:
            self.life.stays.append((begin, end))

    def goes_on(self) -> bool:
        """What happens while it runs: other GPUs, phases that last no time; return whether it is another attempt."""
        if self.rng.random() < 0.2:
            self.attempt += 1
            self.say(attempt=self.attempt)
            self.maker.marks.add("another attempt while it runs")
            return True
        if self.rng.random() < 0.4:
            self.gpus = self.rng.choice(GPUS)
            self.say(gpus=self.gpus)
            self.maker.marks.add("GPUs change while it runs")
        elif self.rng.random() < 0.3:
            self.say(phase="starting")
            self.say(phase="running")
            self.maker.marks.add("a phase that lasts no time")
        return False

    def stop(self) -> bool:
        """End the attempt in one way or another; return whether it is to be placed again."""
        if self.at >= self.world.end:
            return False
        way = self.rng.choice(("ended", "failed", "failed", "preempted", "preempted", "paused", "vanished"))
        self.maker.marks.add(way)
        if way == "ended":
            self.say(phase="ended", reason="completed")
            return False
        if way == "vanished":
            self.life.vanished = self.at
            return False
        if way == "failed":
            self.say(phase=self.rng.choice(("failed", "lost")))
            category, again = "failure", "failure"
        else:
            reason = "preemption" if way == "preempted" else "owner"
            self.say(phase="stopping", reason=reason)
            category, again = ("preemption", "preemption") if way == "preempted" else ("productive", "waiting")
        self.piece(category, self.maker.lasts(SECOND, 6 * MINUTE))
        self.say(phase="pending", attempt=self.attempt + 1)
        self.piece(again, self.maker.lasts(SECOND, 25 * MINUTE), placed=False)
        if self.rng.random() < 0.3:
            self.say(phase="pending")
            self.piece(again, self.maker.lasts(SECOND, 5 * MINUTE), placed=False)
        return True

    def say(self, **facts: Any) -> None:
        if self.at < self.world.end:
            self.life.states.append((self.at, facts))

    def piece(self, category: str, lasts: int, placed: bool = True) -> None:
        end = min(self.at + lasts, self.world.end)
        if self.at < end:
            gpus = round(self.gpus * 1000)
            machine = self.machine if placed else "unplaced"
            self.life.pieces.append(Piece(self.at, end, category, gpus, machine, self.pool))
        self.at += lasts


class Sampling:
    """One worker's readings while it runs: busy, idle or none, and steps that go on or hang."""

    def __init__(self, maker: Maker, world: World, life: Life, tells: bool) -> None:
        self.maker, self.rng, self.world, self.life, self.tells = maker, maker.rng, world, life, tells
        self.measured = self.rng.random() < 0.8

    def sample(self) -> None:
        step = 0
        for begin, end in self.life.stays:
            step, hangs = step + self.rng.choice((0, 1_000)), self.rng.random() < 0.4
            at = begin + self.rng.choice((0, self.maker.lasts(0, 5 * MINUTE)))
            busy = self.rng.choice((90, 90, 5, 4.999, 0))
            elsewhere = self._elsewhere(begin, end)
            while at <= end:
                if self.rng.random() < 0.2:
                    busy = self.rng.choice((100, 88.5, 3, 0, "N/A", None))
                step += self.rng.choice((0, 0, 0, 0, 0, 0, 0, 1)) if hangs else self.rng.choice((0, 1, 1))
                doing = "evaluation" if elsewhere[0] <= at < elsewhere[1] else ""
                self._take(at, busy, step, doing)
                at += self.maker.lasts(40 * SECOND, self.rng.choice((130, 130, 500)) * SECOND)

    def _elsewhere(self, begin: int, end: int) -> tuple[int, int]:
        """Return when it evaluates, for once and in some of the stays, instead of taking steps."""
        dice = Random(f"{self.life.run}/{self.life.worker}/{begin}")
        since = dice.randint(begin, end) if dice.random() < 0.3 else end
        return since, dice.randint(since, end)

    def _take(self, at: int, busy: Any, step: int, doing: str) -> None:
        if self.life.samples and self.life.samples[-1].at >= at:
            return
        away = any(begin <= at < end for begin, end in self.world.outages[self.life.source])
        sample = Sample(at, busy if self.measured else None, step if self.tells else None, doing if self.tells else "")
        if not away and (sample.busy is not None or sample.step is not None):
            self.life.samples.append(sample)


def draw_start(rng: Random) -> int:
    """Return when worlds begin: some of them soon cross a day's edge, or a week's."""
    return MONDAY + rng.choice((0, 9 * HOUR + 7, 22 * HOUR + 30 * MINUTE, 6 * DAY + 22 * HOUR))


def make_world(rng: Random, start: int) -> World:
    return Maker(rng, start).world()
