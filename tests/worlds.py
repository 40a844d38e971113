"""Small nasty worlds of facts in the wire format, drawn from a `random.Random`. Instants are UTC ms.

Fewer than ten workers live at once, so no list is ever put aside as a mass vanishing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any, NamedTuple

from tests.evidence import REASONS, Rule, Settings

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONDAY = 1_790_553_600_000  # 2026-09-28T00:00Z
MOST_WORKERS = 9
USERS = ("ana", "bo")
RUNS = ("8c1f", "8C1F", "run-10", "run-2")
SOURCES = ("kubernetes/east", "slurm", "a")
MACHINES = ("gpu-7", "gpu-10", "GPU-7", "ä")
POOLS = ("h100", "a100", "none-such", "none")
GPUS = (8, 8, 8, 1, 0, 0, 0.142, 2.5, 0.001, 4096, 8.0)
BUSY = ("N/A", 0, 4.9999, 5, 5.0, 5.0001, 4.999, 87.5, 100, 0.0)
REASONS_SAID = ("", None, "preemption", "drain", "preemption", *REASONS)
DOINGS = ("checkpoint", "evaluation", "", None)
STEP_SECONDS = (0.5, 17.999, 18, 120.001, 150, None)
AFTER = {
    "": ("pending", "pending", "starting", "running"),
    "pending": ("starting", "starting", "pending", "running", "ended"),
    "starting": ("running", "running", "failed", "stopping"),
    "running": ("running", "stopping", "failed", "lost", "ended", "pending", "starting"),
    "stopping": ("pending", "ended", "ended", "stopping", "running", "failed"),
    "failed": ("pending", "pending", "ended", "starting"),
    "lost": ("pending", "running", "ended"),
    "ended": ("pending", "running", "starting", "ended"),
}

type_item = dict[str, Any]
type_batch = dict[str, Any]


class Word(NamedTuple):
    source: str
    sent_at: int
    seen_from: int | None


class Listing(NamedTuple):
    """A complete list of a source: its word, and its items."""

    word: Word
    items: list[type_item]


@dataclass
class World:
    """Facts in the wire format; each list of `streams` and of `lists` is in the order of its stream."""

    settings: Settings
    runs: list[type_item]
    machines: list[type_item]
    states: list[tuple[str, type_item]] = field(default_factory=list)
    streams: list[tuple[str, list[type_item]]] = field(default_factory=list)
    lists: list[list[Listing]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    @property
    def until(self) -> int:
        """Return an instant after all of them, on no edge."""
        told = instants([self.states, self.streams, self.lists, self.words])
        return max(told) + 7 * HOUR + 12_345


def iso(at: int, hours: int = 0) -> str:
    moment = (EPOCH + timedelta(milliseconds=at)).astimezone(timezone(timedelta(hours=hours)))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ms(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)


def instants(value: Any) -> Iterable[int]:
    if isinstance(value, Word):
        yield from (at for at in (value.sent_at, value.seen_from) if at is not None)
    elif isinstance(value, dict):
        yield from (ms(value[key]) for key in ("at", "from", "sent_at", "seen_from") if value.get(key))
        yield from instants([value.get("workers", []), value.get("readings", [])])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from instants(one)


# --- a world ---


class Clock:
    """Draws instants that like to meet: on each other, on hour edges, at limits and one ms beside them."""

    def __init__(self, rng: Random, settings: Settings) -> None:
        self.rng = rng
        self.start = MONDAY + rng.choice((0, 23 * HOUR + 50 * MINUTE, 6 * DAY + 23 * HOUR, 11 * HOUR - 1))
        self.span = rng.choice((10 * MINUTE, HOUR, 3 * HOUR, 3 * HOUR, 26 * HOUR, 4 * DAY))
        self.known = [self.start, (self.start // HOUR + 1) * HOUR]
        limits = (30_000, settings.carry_max, settings.stall_after, MINUTE, HOUR)
        self.steps = [limit + beside for limit in limits for beside in (-1, 0, 1)] + [0, 0, 1]

    def any(self) -> int:
        kind = self.rng.choice(("known", "beside", "free", "free", "hour"))
        if kind == "known":
            return self.rng.choice(self.known)
        if kind == "beside":
            return self.after(self.rng.choice(self.known))
        free = self.start + self.rng.randint(0, self.span)
        return self._know(free // HOUR * HOUR if kind == "hour" else free)

    def after(self, at: int) -> int:
        return self._know(at + self.rng.choice(self.steps))

    def later(self, at: int) -> int:
        """Return an instant soon or long after `at`, one already known, hardly ever one before it."""
        kind = self.rng.choice(("limit", "limit", "soon", "any", "meet"))
        ahead = sorted(known for known in self.known if known > at)
        if kind == "meet" and ahead:
            return self.rng.choice(ahead[:3])
        if kind == "any":
            return self._know(at + self.rng.randint(-2, max(2, self.span // 4)))
        return self.after(at) if kind == "limit" else self._know(at + self.rng.randint(1, 4 * MINUTE))

    def _know(self, at: int) -> int:
        self.known.append(at)
        return at


def make_world(rng: Random) -> World:
    settings = _settings(rng)
    clock = Clock(rng, settings)
    machines = [
        {"name": name, "gpus": 8, "ready": True} | ({"pool": rng.choice(POOLS)} if rng.random() < 0.7 else {})
        for name in rng.sample(MACHINES, rng.randint(0, len(MACHINES)))
    ]
    runs = [
        {"workspace": rng.choice(("vision", "speech")), "uid": uid, "name": "llm", "user": rng.choice(USERS)}
        for uid in RUNS[: rng.choice((1, 1, 2, 3, 4))]
    ]
    world = World(settings, runs, machines)
    sources = SOURCES[: rng.choice((1, 1, 2, 3))]
    calm = rng.random() < 0.4
    for run, worker in _members(rng, runs):
        home = rng.choice(sources)
        states = (_calm_states if calm else _states)(rng, clock, run, worker)
        world.states += [(home if rng.random() < 0.85 else rng.choice(sources), item) for item in states]
        world.states += [(rng.choice(sources), item) for item in states if rng.random() < 0.05]
        if rng.random() < 0.75:
            begin = ms(rng.choice(states[:3])["at"]) if calm else clock.any()
            world.streams.append((rng.choice(sources), _readings(rng, clock, begin, run, worker)))
    for source in sources:
        world.words += _words(rng, clock, source)
        world.lists.append(_lists(rng, clock, world, source))
    return world


def _settings(rng: Random) -> Settings:
    first = MONDAY + rng.choice((-HOUR, 0, DAY))
    rules = [
        Rule(
            first + rng.randint(0, 30) * HOUR,
            rng.choice(("productive", "idle")),
            rng.choice((True, True, False)),
        )
        for _ in range(rng.choice((0, 0, 1, 3)))
    ]
    by_hour = {rule.since: rule for rule in rules}
    return Settings(
        busy_percent=rng.choice(("5", "5", "50")),
        stall_after=rng.choice((600_000, 600_000, 90_000)),
        carry_max=rng.choice((300_000, 300_000, 60_000)),
        rules=tuple(by_hour[since] for since in sorted(by_hour)),
    )


def _members(rng: Random, runs: list[type_item]) -> list[tuple[str, str]]:
    members = [(run["uid"], f"worker-{index}") for run in runs for index in range(rng.randint(1, 5))]
    return sorted(rng.sample(members, min(len(members), MOST_WORKERS)))


def _states(rng: Random, clock: Clock, run: str, worker: str) -> list[type_item]:
    at, phase, attempt = clock.any(), "", 1
    items = []
    for index in range(rng.randint(1, 9)):
        item: type_item = {"run": run, "worker": worker, "at": iso(at, rng.choice((0, 0, 0, 2, -7)))}
        if index == 0 or rng.random() < 0.8:
            phase = rng.choice(AFTER[phase])
            item["phase"] = phase
            item |= _maybe(rng, 0.5, "reason", lambda: rng.choice(REASONS_SAID))
        if rng.random() < 0.25:
            attempt = max(1, attempt + rng.choice((1, 1, 1, 0, -1)))
            item["attempt"] = attempt
        item |= _maybe(rng, 0.9 if index == 0 else 0.1, "gpus", lambda: rng.choice(GPUS))
        item |= _maybe(rng, 0.35, "machine", lambda: rng.choice((*MACHINES, None)))
        item |= _maybe(rng, 0.2, "pool", lambda: rng.choice((*POOLS, None)))
        item |= _maybe(rng, 0.1, "stalled", lambda: rng.choice((True, True, False, None)))
        items.append(item)
        if rng.random() < 0.1:
            items.append(_rival(rng, item))
        at = clock.later(at)
    return items


def _rival(rng: Random, item: type_item) -> type_item:
    """Draw a state of the same instant, attempt and phase, so that only its content puts it before or after."""
    key = rng.choice(("reason", "gpus", "machine", "pool", "stalled"))
    value = {"gpus": GPUS, "machine": MACHINES, "pool": (*POOLS, None), "stalled": (True, False)}
    chosen = rng.choice(value.get(key, REASONS))
    return item if key == "reason" and "phase" not in item else item | {key: chosen}


def _calm_states(rng: Random, clock: Clock, run: str, worker: str) -> list[type_item]:
    """Draw a worker that soon runs and then runs long, so that steps can prove something."""
    first, at = clock.start + rng.choice((0, 0, 0, 1, MINUTE)), clock.start + rng.choice((0, MINUTE, 3 * MINUTE))
    head: type_item = {"run": run, "worker": worker}
    items = [
        head | {"at": iso(first), "phase": rng.choice(("pending", "starting", "running")), "gpus": 8},
        head | {"at": iso(max(first, at)), "phase": "running", "attempt": rng.choice((1, 2))},
    ]
    return items + [item | head for item in _states(rng, clock, run, worker)[: rng.choice((0, 0, 1, 2))]]


def _maybe(rng: Random, chance: float, key: str, value: Callable[[], Any]) -> type_item:
    return {key: value()} if rng.random() < chance else {}


def _readings(rng: Random, clock: Clock, begin: int, run: str, worker: str) -> list[type_item]:
    at, step, hangs = begin, rng.choice((0, 100)), rng.random() < 0.5
    dice = Random(f"{run}/{worker}/{begin}")
    pace = rng.choice((None, MINUTE, clock.steps[4], clock.steps[7], 4 * MINUTE))
    items = []
    for _ in range(rng.randint(1, 14)):
        item: type_item = {"run": run, "worker": worker, "at": iso(at)}
        item |= _maybe(rng, 0.7, "gpu_busy", lambda: rng.choice((*BUSY, None)))
        if rng.random() < 0.7:
            step += rng.choice((0, 0, 0, 0, 0, 0, 0, 1) if hangs else (0, 0, 1, -1))
            item["step"] = max(0, step)
            item |= _maybe(rng, 0.2, "step_seconds", lambda: rng.choice(STEP_SECONDS))
            item |= _maybe(dice, 0.15, "doing", lambda: dice.choice(DOINGS))
        if rng.random() < 0.15:
            item["from"] = iso(at - rng.choice((0, 1, MINUTE, 2 * HOUR, 30 * HOUR)))
        items.append(item)
        at = at + pace if pace and rng.random() < 0.8 else clock.later(at)
    return items


def _words(rng: Random, clock: Clock, source: str) -> list[Word]:
    words, at = [], clock.any()
    for _ in range(rng.randint(1, 8)):
        back = rng.choice((None, None, None, None, 0, MINUTE, 5 * HOUR, 50 * HOUR))
        words.append(Word(source, at, None if back is None else at - back))
        at = clock.later(at) if rng.random() < 0.7 else clock.any()
    return words


def _lists(rng: Random, clock: Clock, world: World, source: str) -> list[Listing]:
    told: dict[tuple[str, str], list[type_item]] = {}
    for teller, item in world.states:
        if teller == source:
            told.setdefault((item["run"], item["worker"]), []).append(item)
    lists, at = [], clock.any()
    for _ in range(rng.choice((0, 2, 4, 8)) if told else 0):
        items = []
        for (run, worker), states in sorted(told.items()):
            if rng.random() < 0.6:
                refused = {"run": run, "worker": worker, "at": iso(at), "reason": "failure"}
                items.append(refused if rng.random() < 0.1 else rng.choice(states))
        lists.append(Listing(Word(source, at, None), items))
        at = clock.later(at)
    return lists
