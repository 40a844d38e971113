"""The demo as it is told: the history at once, or tick by tick as an agent would, with and without time away."""

import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from random import Random

import pytest

from ledger.batches import Batch
from ledger.core.facts import union
from ledger.core.windows import DAY, HOUR
from ledger.decode import decode
from ledger.demo import playing, samples
from ledger.demo.names import TROUBLED
from ledger.demo.playing import CARRY, World, happened, history, shift_at, whole_list, words
from ledger.demo.world import FIRST, NOW_DAY
from ledger.replay.wire import body_of

MINUTE = 60_000
NOW = NOW_DAY + 9 * HOUR
CLOCK = 1_790_000_000_000
SHIFT = shift_at(CLOCK)
LATER = NOW + 7 * HOUR
type_worker = tuple[str, str]


@cache
def world() -> World:
    return World(LATER)


@cache
def told(now: int) -> tuple[Batch, ...]:
    return tuple(batch for _, batch in history(world(), now, SHIFT))


@cache
def ticks() -> tuple[Batch, ...]:
    """Tell NOW … LATER as the feed does: every few seconds, once away for three hours, once for ten minutes."""
    dice = Random(1)
    steps = [20_000] * 200 + [3 * HOUR] + [47_000] * 100 + [10 * MINUTE] + [60_000] * 60
    batches: list[Batch] = []
    after = listed = NOW
    while after < LATER:
        at = min(LATER, after + (steps.pop(0) if steps else dice.randrange(1_000, 60_000)))
        complete = at - listed > 5 * MINUTE
        listed = at if complete else listed
        batches += happened(world(), after, at, SHIFT, complete)
        after = at
    return tuple(batches)


def states(batches: Iterable[Batch]) -> set[tuple]:
    return {item[1:] for batch in batches for item in batch.workers}


def flips(batches: Iterable[Batch]) -> dict[type_worker, list[tuple[int, bool]]]:
    """Return when each worker's readings turn, as the ledger keeps them."""
    found: dict[type_worker, list[tuple[int, bool]]] = defaultdict(list)
    for batch in batches:
        for item in batch.readings:
            busy = (item.busy_milli_percent or 0) >= 5_000
            mine = found[item.run, item.worker]
            if not mine or mine[-1][1] is not busy:
                mine.append((item.at, busy))
    return dict(found)


def test_the_demo_is_moved_by_whole_days_and_now_is_its_day() -> None:
    assert SHIFT % DAY == 0
    assert NOW_DAY <= CLOCK - SHIFT < NOW_DAY + DAY


def test_nothing_is_told_before_it_happens_nor_twice() -> None:
    for batch in told(NOW):
        assert batch.sent_at <= NOW + SHIFT
        assert all(item.at <= NOW + SHIFT for item in batch.workers)
        assert all(item.at <= NOW + SHIFT for item in batch.readings)
        assert all(item.submitted_at is not None and item.submitted_at <= NOW + SHIFT for item in batch.runs)
        assert all(item.ended_at is None or item.ended_at <= NOW + SHIFT for item in batch.runs)
    items = [item[1:] for batch in told(NOW) for item in batch.workers]
    assert len(items) == len(set(items))


def test_told_tick_by_tick_it_is_the_same_world() -> None:
    told_live = states((*told(NOW), *ticks()))
    assert told_live == states(told(LATER))
    assert len(told_live) > len(states(told(NOW))) + 50


def test_told_tick_by_tick_readings_turn_at_the_same_instants() -> None:
    assert flips((*told(NOW), *ticks())) == flips(told(LATER))


def test_each_stream_is_in_order() -> None:
    last: dict[type_worker, int] = {}
    for batch in (*told(NOW), *ticks()):
        for item in batch.readings:
            assert last.get((item.run, item.worker), 0) < item.at
            last[item.run, item.worker] = item.at


@pytest.mark.parametrize("batches", [lambda: told(LATER), lambda: (*told(NOW), *ticks())], ids=["at once", "live"])
def test_all_running_time_is_covered_but_where_it_is_dark(batches) -> None:
    covered: dict[type_worker, list[tuple[int, int]]] = defaultdict(list)
    for batch in batches():
        for item in batch.readings:
            assert item.since is not None
            covered[item.run, item.worker].append((item.since - SHIFT, item.at - SHIFT + CARRY))
    dark = 0
    for run in world().begun(LATER)[::3]:
        for leg in world().script(run).legs:
            for worker in range(len(run.gang)):
                stops = leg.broken[1] if leg.broken and leg.broken[0] == worker else leg.stops
                gaps = world().dark[leg.machines[worker]]
                mine = union(covered[run.uid, f"worker-{worker}"])
                for start, end in samples.but(leg.runs, min(stops, LATER), gaps):
                    assert any(low <= start and end <= high for low, high in mine), (run.uid, start, end)
                dark += sum(any(leg.runs < low and high < stops for low, high in gaps) for _ in (0,))
    assert dark > 10


def test_the_words_cover_the_history_but_for_a_few_outages() -> None:
    every = list(words(world(), NOW, SHIFT))
    heard = union((batch.seen_from or batch.sent_at, batch.sent_at + CARRY) for batch in every)
    gaps = [(a[1], b[0]) for a, b in pairwise(heard)]
    assert heard[0][0] == FIRST + SHIFT
    assert heard[-1][1] > NOW + SHIFT
    assert 1 <= len(gaps) <= 8
    assert all(10 * MINUTE < end - start < 2 * HOUR for start, end in gaps)
    assert len(every[0].machines) == 100


def test_the_words_of_the_feed_leave_no_gap() -> None:
    heard = union((batch.seen_from or batch.sent_at, batch.sent_at + CARRY) for batch in ticks())
    assert heard == ((NOW + SHIFT, LATER + SHIFT + CARRY),)


def test_a_complete_list_names_exactly_who_lives() -> None:
    lists = [batch for batch in ticks() if batch.complete]
    assert len(lists) > 20
    for batch in (*lists, whole_list(world(), NOW, SHIFT)):
        at = batch.sent_at - SHIFT
        alive = [run for run in world().runs if run.submitted <= at < run.end]
        assert batch.named == {(run.uid, f"worker-{k}") for run in alive for k in range(len(run.gang))}
        assert {item.uid for item in batch.runs} == {run.uid for run in alive}
        assert len(batch.machines) == 100


def readiness(batches: Iterable[Batch]) -> set[tuple[int, str, bool | None]]:
    """Return when machines turned, as the ledger keeps it: what is said again changes nothing."""
    found, last = set(), {}
    for batch in sorted(batches, key=lambda batch: batch.sent_at):
        for item in batch.machines:
            if last.get(item.name) is not item.ready:
                found.add((batch.sent_at - SHIFT, item.name, item.ready))
            last[item.name] = item.ready
    return found


def test_machines_are_down_now_and_then_and_live_as_in_the_past() -> None:
    live = readiness((*told(NOW), *ticks()))
    assert live == readiness(told(LATER))
    broken = {(at, name) for at, name, ready in live if not ready}
    assert len(broken) > 60
    assert {name for _, name in broken} > TROUBLED
    known = {at for ranges in world().repairs.values() for one in ranges for at in one}
    late = [at for at, _ in broken if at not in known]
    assert len(late) <= 5, "what breaks while the collector is away is told when it is back"


def test_nobody_holds_a_machine_that_is_down() -> None:
    down = 0
    for run in world().runs:
        for number, (start, end) in enumerate(run.attempts):
            for machine in world().placed[run.uid, number].machines:
                ranges = world().repairs[machine]
                down += len(ranges)
                assert all(stop <= start or end <= begin for begin, stop in ranges)
    assert down


def test_a_stalled_gang_tells_the_same_step_at_full_speed_and_others_go_on() -> None:
    told_steps: dict[type_worker, list[tuple[int, int, int]]] = defaultdict(list)
    for batch in ticks():
        for item in batch.readings:
            if item.step is not None:
                busy = item.busy_milli_percent or 0
                told_steps[item.run, item.worker].append((item.at - SHIFT, item.step, busy))
    stalled = 0
    for run in world().alive(NOW, LATER):
        for leg in world().script(run).legs:
            for start, end in leg.stalls:
                inside = [t for t in told_steps[run.uid, "worker-0"] if start < t[0] < end]
                stalled += len(inside) > 30
                assert len({step for _, step, _ in inside}) <= 1
                assert all(busy >= 99_000 for _, _, busy in inside)
    assert stalled >= 2


def test_every_batch_is_taken_by_the_interface() -> None:
    for batch in (*told(NOW), *ticks()[:400], *(one for one in ticks() if one.complete)):
        body = json.dumps(body_of(batch)).encode()
        assert decode(body, "application/json") == batch
        assert not batch.refused


def test_the_shift_of_a_demo_is_known_by_any_of_its_runs() -> None:
    run = world().runs[7]
    assert playing.shift_of({"other": 1, run.uid: run.submitted + SHIFT}, world()) == SHIFT
    assert playing.shift_of({"other": 1}, world()) is None
