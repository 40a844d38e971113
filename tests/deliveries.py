"""The ways a world can be told: the same facts in any order, late, doubled and split; each stream in its order.

A `random.Random` decides; hypothesis brings one that shrinks, a seed brings one that repeats. Instants are UTC ms.
"""

from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.worlds import HOUR, MINUTE, Listing, Word, World, instants, iso, make_world, ms, type_batch


class Delivery(NamedTuple):
    """A batch as it arrives, and the database's clock when it does."""

    now: int
    batch: type_batch


class _Event(NamedTuple):
    """Something to send: at the earliest at `due`, through `source`."""

    due: int
    tie: float
    source: str
    kind: str
    what: Any


def deliver(world: World, rng: Random, ahead: int = 0) -> list[Delivery]:
    """Return one way to tell the world's facts; every way must leave the same cells.

    What a batch says lies up to `ahead` ms after the clock at its arrival.
    """
    waits = rng.choice(((0,), (0, 0, MINUTE, HOUR), (0, 2 * HOUR, 30 * HOUR), (0, 1, 40 * MINUTE)))
    events = sorted(_events(world, rng, waits), key=lambda event: event[:2])
    words: dict[str, list[Word]] = {}
    for word in world.words:
        words.setdefault(word.source, []).append(word)
    open_items: dict[str, list[_Event]] = {source: [] for source in words}
    most = rng.choice((1, 3, 10, 50))
    batches = []
    for event in events:
        mine = open_items[event.source]
        if event.kind in ("states", "readings"):
            mine.append(event)
        if event.kind in ("word", "list") or len(mine) >= most:
            word = event.what if event.kind == "word" else rng.choice(words[event.source])
            if mine or event.kind == "word":
                batches.append((event.due, _batch(world, rng, word, mine)))
            mine.clear()
        if event.kind == "list":
            batches.append((event.due, _complete(world, rng, event.what)))
    for source, mine in open_items.items():
        if mine:
            batches.append((mine[-1].due, _batch(world, rng, rng.choice(words[source]), mine)))
    return _terse(_clocked(batches, ahead), rng)


def _events(world: World, rng: Random, waits: tuple[int, ...]) -> Iterable[_Event]:
    def copies() -> range:
        return range(rng.choice((1, 1, 1, 1, 2, 3)))

    for source, item in world.states:
        for _ in copies():
            yield _Event(ms(item["at"]) + rng.choice(waits), rng.random(), source, "states", item)
    for word in world.words:
        for _ in copies():
            yield _Event(word.sent_at + rng.choice(waits), rng.random(), word.source, "word", word)
    streams = [("readings", source, [(ms(one["at"]), one) for one in items]) for source, items in world.streams] + [
        ("list", lists[0].word.source, [(one.word.sent_at, one) for one in lists]) for lists in world.lists if lists
    ]
    for kind, source, stream in streams:
        due, order = 0, 0.0
        for at, one in stream:
            due, order = max(due, at + rng.choice(waits)), order + 1
            for copy in copies():
                yield _Event(due + copy * rng.choice(waits), order + copy / 4, source, kind, one)


def _batch(world: World, rng: Random, word: Word, events: list[_Event]) -> type_batch:
    states = [event.what for event in events if event.kind == "states"]
    rng.shuffle(states)
    if rng.random() < 0.05:
        states.append({"run": "ghost", "worker": "w", "at": iso(word.sent_at), "phase": "running", "gpus": 8})
    readings = [event.what for event in events if event.kind == "readings"]
    return _envelope(world, rng, word) | {"workers": states, "readings": readings}


def _complete(world: World, rng: Random, listing: Listing) -> type_batch:
    items = list(listing.items)
    rng.shuffle(items)
    return _envelope(world, rng, listing.word) | {"complete": True, "workers": items}


def _envelope(world: World, rng: Random, word: Word) -> type_batch:
    seen = {} if word.seen_from is None else {"seen_from": iso(word.seen_from)}
    envelope = {"source": word.source, "sent_at": iso(word.sent_at), **seen}
    return envelope | {"machines": world.machines, "runs": rng.sample(world.runs, len(world.runs))}


def _clocked(batches: list[tuple[int, type_batch]], ahead: int) -> list[Delivery]:
    deliveries, now = [], 0
    for due, batch in batches:
        now = max(now, max(due, *instants(batch)) - ahead)
        deliveries.append(Delivery(now, batch))
    return deliveries


def _terse(deliveries: list[Delivery], rng: Random) -> list[Delivery]:
    """Leave out, now and then, runs that a batch before has named."""
    known: set[str] = set()
    for delivery in deliveries:
        runs = delivery.batch["runs"]
        if rng.random() < 0.3:
            delivery.batch["runs"] = [run for run in runs if run["uid"] not in known]
        known |= {run["uid"] for run in runs}
    return deliveries


@st.composite
def told_worlds(draw: st.DrawFn, ways: int = 1) -> tuple[World, list[list[Delivery]]]:
    """Draw a world and `ways` ways to tell it."""
    rng = draw(st.randoms(use_true_random=False))
    world = make_world(rng)
    return world, [deliver(world, rng) for _ in range(ways)]


def end_of(world: World, *ways: list[Delivery]) -> int:
    """Return an instant, on no edge, at which all has arrived and been over for hours."""
    return max(world.until, *(way[-1].now + 777 for way in ways))


def random_world(seed: int) -> World:
    return make_world(Random(seed))


def random_told(seed: int, ways: int = 1) -> tuple[World, list[list[Delivery]]]:
    rng = Random(seed)
    world = make_world(rng)
    return world, [deliver(world, rng) for _ in range(ways)]
