"""Streams: what readings in order leave, and what late and repeated ones do not change."""

from ledger.core.facts import FOREVER, Flip, Stall, Thresholds
from ledger.core.streams import Doing, Reading, Stream, Trace, take

MINUTE = 60_000
LIMITS = Thresholds()


def told(*readings: Reading, now: int = FOREVER) -> tuple[Stream, Trace]:
    stream, trace = Stream(), Trace()
    for reading in readings:
        stream = take(stream, reading, LIMITS, now, trace)
    return stream, trace


def test_only_flips_are_kept_of_busy_readings() -> None:
    stream, trace = told(
        Reading(0, busy_milli_percent=5_000),
        Reading(1, busy_milli_percent=100_000),
        Reading(2, busy_milli_percent=4_999),
        Reading(3, busy_milli_percent=0),
        Reading(4, busy_milli_percent=5_000),
    )
    assert trace.flips == [Flip(0, busy=True), Flip(2, busy=False), Flip(4, busy=True)]
    assert (stream.busy_at, stream.busy) == (4, True)
    assert (trace.taken, trace.late, trace.duplicate) == (5, 0, 0)


def test_late_and_equal_readings_change_nothing() -> None:
    before, _ = told(Reading(10, busy_milli_percent=0, step=3))
    stream, trace = told(
        Reading(10, busy_milli_percent=0, step=3),
        Reading(9, since=0, busy_milli_percent=90_000, step=4),
        Reading(10, since=0, busy_milli_percent=90_000, step=4),
    )
    assert stream == before
    assert (trace.taken, trace.late, trace.duplicate) == (2, 2, 2)


def test_the_two_streams_are_judged_apart() -> None:
    stream, trace = told(
        Reading(10, busy_milli_percent=90_000),
        Reading(5, busy_milli_percent=0, step=3),
    )
    assert (stream.busy_at, stream.busy, stream.step_at, stream.step) == (10, True, 5, 3)
    assert (trace.taken, trace.late) == (2, 1)


def test_covered_ranges_join_when_they_touch() -> None:
    stream, trace = told(
        Reading(0, busy_milli_percent=1),
        Reading(5 * MINUTE, busy_milli_percent=1),
        Reading(10 * MINUTE + 1, busy_milli_percent=1),
        Reading(12 * MINUTE, since=10 * MINUTE, busy_milli_percent=1),
    )
    assert trace.covered == [(0, 10 * MINUTE)]
    assert stream.covered == ((10 * MINUTE, 17 * MINUTE),)


def test_one_proof_a_progress_and_its_end() -> None:
    stream, trace = told(
        Reading(0, step=7),
        Reading(10 * MINUTE, step=7),
        Reading(10 * MINUTE + 1, step=7),
        Reading(30 * MINUTE, step=7),
        Reading(31 * MINUTE, step=8),
        Reading(45 * MINUTE, step=8),
    )
    assert trace.proofs == [Stall(0, 10 * MINUTE + 1), Stall(31 * MINUTE, 45 * MINUTE)]
    assert trace.resumed == [(0, 31 * MINUTE)]
    assert (stream.progress_at, stream.proven) == (31 * MINUTE, True)


def test_a_reading_that_says_no_step_seconds_leaves_the_newest() -> None:
    stream, trace = told(
        Reading(0, step=7, step_ms=600_000),
        Reading(50 * MINUTE, step=7),
        Reading(50 * MINUTE + 1, step=7, step_ms=120_000),
    )
    assert stream.step_ms == 120_000
    assert trace.proofs == [Stall(0, 50 * MINUTE + 1)]


def test_steps_close_together_are_one_range_of_telling() -> None:
    stream, trace = told(
        Reading(0, step=1),
        Reading(5 * MINUTE, step=1),
        Reading(10 * MINUTE + 1, step=1),
    )
    assert trace.told == [(0, 5 * MINUTE + 1)]
    assert stream.told == ((10 * MINUTE + 1, 10 * MINUTE + 2),)


def test_a_reading_of_nothing_changes_nothing() -> None:
    stream, trace = told(Reading(0))
    assert stream == Stream()
    assert trace == Trace()


def test_a_trace_says_from_when_the_past_changed() -> None:
    for readings, changed in [
        ([Reading(0, busy_milli_percent=0)], 0),
        ([Reading(5 * MINUTE, since=MINUTE, busy_milli_percent=0)], MINUTE),
        (
            [Reading(3 * MINUTE, busy_milli_percent=0), Reading(4 * MINUTE, since=2 * MINUTE, busy_milli_percent=0)],
            2 * MINUTE,
        ),
        ([Reading(MINUTE, step=1)], FOREVER),
        ([Reading(MINUTE, step=1), Reading(20 * MINUTE, step=1)], MINUTE),
    ]:
        assert told(*readings, now=MINUTE)[1].changed == changed


def test_a_reading_that_only_moves_the_end_of_coverage_on_changes_no_past() -> None:
    stream, _ = told(Reading(0, busy_milli_percent=0), now=0)
    trace = Trace()
    take(stream, Reading(4 * MINUTE, busy_milli_percent=1), LIMITS, 4 * MINUTE, trace)
    assert trace.changed == FOREVER
    take(stream, Reading(5 * MINUTE, busy_milli_percent=1), LIMITS, 5 * MINUTE, trace)
    assert trace.changed == 5 * MINUTE


def test_thresholds_act_when_a_sample_arrives_and_stay_in_what_it_left() -> None:
    stream, trace = told(Reading(0, busy_milli_percent=6_000, step=1))
    strict = Thresholds(busy_milli_percent=50_000, stall_after=MINUTE, carry_max=MINUTE)
    stream = take(stream, Reading(2 * MINUTE, busy_milli_percent=6_000, step=1), strict, FOREVER, trace)
    assert trace.flips == [Flip(0, busy=True), Flip(2 * MINUTE, busy=False)]
    assert trace.proofs == [Stall(0, 2 * MINUTE)]
    assert stream.covered == ((0, 5 * MINUTE),)
    stream = take(stream, Reading(5 * MINUTE, busy_milli_percent=6_000, step=1), LIMITS, FOREVER, trace)
    assert trace.flips[2:] == [Flip(5 * MINUTE, busy=True)]
    assert trace.proofs == [Stall(0, 2 * MINUTE)]
    assert stream.covered == ((0, 10 * MINUTE),)


def test_a_phase_and_its_end_are_progress() -> None:
    stream, trace = told(
        Reading(0, step=7),
        Reading(11 * MINUTE, step=7),
        Reading(12 * MINUTE, step=7, doing=Doing.CHECKPOINT),
        Reading(40 * MINUTE, step=7, doing=Doing.EVALUATION),
        Reading(60 * MINUTE, step=7),
        Reading(70 * MINUTE, step=7),
    )
    assert trace.proofs == [Stall(0, 11 * MINUTE)]
    assert trace.resumed == [(0, 12 * MINUTE)]
    assert (stream.progress_at, stream.proven, stream.doing) == (60 * MINUTE, False, Doing.NONE)


def test_the_last_five_step_times_are_those_of_steps_that_differ() -> None:
    stream, _ = told(*(Reading(n, step=n // 2, step_ms=100 + n) for n in range(14)), Reading(15, step=99))
    assert stream.recent == (104, 106, 108, 110, 112)
