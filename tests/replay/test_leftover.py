"""Far fewer readings than came leave the same behind: seeded streams, taken, told again, taken again."""

from random import Random

import pytest

from ledger.core.facts import FOREVER, Left, Range, Stall, Thresholds, union
from ledger.core.stalls import stalled_in, telling_in
from ledger.core.streams import Reading, Stream, Trace, take
from ledger.replay.leftover import readings

LIMITS = Thresholds()
MINUTE = 60_000
NOW = 10_000 * MINUTE


def left_of(told: list[Reading]) -> tuple[Left, Stream]:
    """Take readings one after another, as the ledger does, and return what they left."""
    stream, trace = Stream(), Trace()
    for reading in told:
        stream = take(stream, reading, LIMITS, NOW, trace)
    ends = dict(trace.resumed)
    stalls = tuple(Stall(s.progress_at, s.proof_at, ends.get(s.progress_at, FOREVER)) for s in trace.proofs)
    covered = union((*trace.covered, *stream.covered))
    return Left(tuple(trace.flips), stalls, covered, union((*trace.told, *stream.told))), stream


def drawn(dice: Random) -> list[Reading]:
    """Return a stream: mostly a reading a minute, with gaps, slow steps, hangs, and readings of one quantity only."""
    at, step, found = 0, dice.randrange(3), []
    hangs = 0
    for _ in range(dice.randrange(1, 150)):
        at += dice.choice((1, 500, MINUTE, MINUTE, MINUTE, 4 * MINUTE, 5 * MINUTE, 5 * MINUTE + 1, 12 * MINUTE))
        hangs = hangs - 1 if hangs else dice.choice((0, 0, 0, 0, 12, 30))
        step = step if hangs else max(0, step + dice.choice((0, 1, 1, 5, -3)))
        seconds = dice.choice((None, 900, 30_000, 150_000, 400_000))
        since = dice.choice((None, None, at, at - 2 * MINUTE, at - 20 * MINUTE))
        busy = dice.choice((None, 0, 4_999, 5_000, 90_000))
        told = dice.random() < 0.7
        if busy is None and not told:
            continue
        found.append(
            Reading(at, since if busy is not None else None, busy, step if told else None, seconds if told else None)
        )
    return found


def drawn_stays(dice: Random) -> list[Range]:
    """Return stays of any length; often one begins as soon as another ends, as after a restart."""
    at, found = dice.randrange(60 * MINUTE), []
    for _ in range(dice.randrange(1, 12)):
        end = at + dice.choice((1, 3, 11, 14, 20, 45, 120)) * MINUTE
        found.append((at, end))
        at = end + dice.choice((0, 1, MINUTE // 2, 2 * MINUTE, 40 * MINUTE))
    return found


@pytest.mark.parametrize("seed", range(400))
def test_the_same_is_left(seed: int) -> None:
    dice = Random(seed)
    came, stays = drawn(dice), drawn_stays(dice)
    left, stream = left_of(came)
    told = readings(left, stream, stays, LIMITS)
    again, after = left_of(told)
    assert again.flips == left.flips
    assert again.covered == left.covered
    assert stalled_in(stays, again.stalls) == stalled_in(stays, left.stalls)
    assert telling_in(stays, again.told) == telling_in(stays, left.told)
    assert (after.busy_at, after.busy) == (stream.busy_at, stream.busy)
    assert (after.step_at, after.step) == (stream.step_at, stream.step)


@pytest.mark.parametrize("seed", range(400, 500))
def test_it_goes_on_as_if_all_had_been_told(seed: int) -> None:
    dice = Random(seed)
    came, stays = drawn(dice), drawn_stays(dice)
    left, stream = left_of(came)
    told = readings(left, stream, stays, LIMITS)
    last = max((r.at for r in came), default=0)
    more = [r._replace(at=r.at + last, since=None) for r in drawn(dice)]
    one, two = left_of([*came, *more])[0], left_of([*told, *more])[0]
    assert one.flips == two.flips
    assert one.covered == two.covered
    assert stalled_in(stays, one.stalls) == stalled_in(stays, two.stalls)


def test_a_busy_day_is_a_handful_of_readings() -> None:
    day = [Reading(at, None, 90_000, at // MINUTE, 900) for at in range(0, 24 * 60 * MINUTE, MINUTE)]
    left, stream = left_of(day)
    assert len(readings(left, stream, [(30 * MINUTE, 20 * 60 * MINUTE)], LIMITS)) <= 6


def test_nothing_came_of_nothing() -> None:
    assert readings(Left(), Stream(), [(0, MINUTE)], LIMITS) == []
