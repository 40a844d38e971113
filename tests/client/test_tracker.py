"""The tracker's behaviour, row by row; its clock is the test's."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from astra import GoodputMetrics, GoodputTracker, tracker
from tests.client import forks

STAGES = ("source", "transform", "transfer")


class Clock:
    """A monotonic clock that stands still until it is told to go on, in seconds."""

    def __init__(self) -> None:
        self.ns = 5_000_000_000

    def __call__(self) -> int:
        return self.ns

    def goes(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(tracker, "perf_counter_ns", clock)
    return clock


def play(clock: Clock, script: str) -> GoodputTracker:
    """Play a script of words: ( ) a batch; source:1 a timed stage; +1 time goes on; record:source:1; reset."""
    told = GoodputTracker()
    for word in script.split():
        name, _, rest = word.partition(":")
        if name == "(":
            told.start_batch()
        elif name == ")":
            told.end_batch()
        elif name == "reset":
            told.reset()
        elif name == "record":
            stage, _, seconds = rest.partition(":")
            getattr(told, f"record_{stage}")(float(seconds))
        elif name.startswith("+"):
            clock.goes(float(name))
        else:
            with getattr(told, f"time_{name}")():
                clock.goes(float(rest))
    return told


TABLE = """
    script                                                  | batches wall source transform transfer overhead ratio
    ( source:1 transform:2 transfer:3 +4 )                  | 1 10 1 2 3 4 0.6
    ( source:1 source:1 +2 )                                | 1 4 2 0 0 2 0.5
    ( source:1 ) +100 ( source:3 )                          | 2 4 4 0 0 0 1
    ( record:source:1 record:transform:0.5 +2 )             | 1 2 1 0.5 0 0.5 0.75
    ( record:source:3 +2 )                                  | 1 2 3 0 0 -1 1.5
    source:1 ( +1 )                                         | 1 1 1 0 0 0 1
    ( +5 ( source:1 )                                       | 1 1 1 0 0 0 1
    ( source:1 ) reset ( +2 )                               | 1 2 0 0 0 2 0
    ( source:1 reset ( transfer:1 )                         | 1 1 0 0 1 0 1
    ( )                                                     | 1 0 0 0 0 0 -
    reset                                                   | 0 0 0 0 0 0 -
"""


@pytest.mark.parametrize("row", TABLE.strip().splitlines()[1:], ids=lambda row: row.split("|")[0].strip())
def test_the_behaviour(row: str, clock: Clock) -> None:
    script, wanted = row.split("|")
    said = play(clock, script).summary()
    productive = said.source_sec + said.transform_sec + said.transfer_sec
    assert said.productive_sec == pytest.approx(productive)
    found = [said.total_batches, said.wall_clock_sec, *(getattr(said, f"{stage}_sec") for stage in STAGES)]
    found += [said.overhead_sec, said.goodput_ratio]
    assert ["-" if one is None else f"{one:g}" for one in found] == wanted.split()


def test_overlapped_stages_are_told(clock: Clock) -> None:
    said = play(clock, "( record:source:3 +2 )").summary()
    assert (said.goodput_ratio, said.overhead_sec, said.overlap_sec) == (1.5, -1.0, 1.0)
    assert play(clock, "( source:1 +1 )").summary().overlap_sec == 0


def test_time_is_kept_when_the_body_raises(clock: Clock) -> None:
    told = GoodputTracker()
    told.start_batch()

    def read() -> None:
        with told.time_source():
            clock.goes(2)
            raise KeyError("no such file")

    with pytest.raises(KeyError, match="no such file"):
        read()
    told.end_batch()
    assert told.summary().source_sec == 2


def test_the_end_of_no_batch_is_a_clear_error() -> None:
    told = GoodputTracker()
    with pytest.raises(RuntimeError, match=r"end_batch\(\) without start_batch\(\)"):
        told.end_batch()
    told.start_batch()
    told.end_batch()
    with pytest.raises(RuntimeError, match="there is no batch to end"):
        told.end_batch()
    assert told.summary().total_batches == 1


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("bad", [-0.001, float("nan"), float("inf"), 1e12])
def test_a_duration_that_is_none_is_a_clear_error(stage: str, bad: float) -> None:
    with pytest.raises(ValueError, match="a duration is a number of seconds from 0 on"):
        getattr(GoodputTracker(), f"record_{stage}")(bad)


def test_the_last_batches_are_kept_and_all_are_counted(clock: Clock) -> None:
    told = GoodputTracker(kept=3)
    for number in range(1, 6):
        told.start_batch()
        told.record_source(number)
        told.record_transform(number * 2)
        told.record_transfer(number * 3)
        clock.goes(10 * number)
        told.end_batch()
    assert told.per_batch_source == [3, 4, 5]
    assert told.per_batch_transform == [6, 8, 10]
    assert told.per_batch_transfer == [9, 12, 15]
    assert told.per_batch_wall == [30, 40, 50]
    assert told.summary() == GoodputMetrics(5, 150, 15, 30, 45, 90, 60, 0.6)
    told.reset()
    assert told.per_batch_wall == []
    with pytest.raises(ValueError, match="from 0 on"):
        GoodputTracker(kept=-1)


def test_totals_are_exact_where_sums_of_floats_are_not(clock: Clock) -> None:
    told = GoodputTracker(kept=0)
    for _ in range(100_000):
        told.start_batch()
        told.record_source(0.1)
        clock.ns += 100_000_001
        told.end_batch()
    assert told.totals() == (100_000, 10_000_000_100_000, 10_000_000_000_000, 0, 0)
    assert told.summary().source_sec == 10_000


def test_a_stage_that_is_open_over_the_end_of_a_batch_is_cut_there(clock: Clock) -> None:
    told = GoodputTracker()
    told.start_batch()
    with told.time_source():
        clock.goes(1)
        told.end_batch()
        told.start_batch()
        clock.goes(2)
    told.end_batch()
    assert told.per_batch_source == [1, 2]


def test_a_wall_clock_that_jumps_changes_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> Any:
        raise AssertionError("the wall clock was asked")

    for name in ("time", "time_ns"):
        monkeypatch.setattr(f"time.{name}", never)
    assert play(clock, "( source:1 +1 )").summary().goodput_ratio == 0.5


def test_a_summary_is_of_whole_batches_whoever_asks() -> None:
    told, stop, torn = GoodputTracker(), threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            batches, _, source, transform, transfer = told.totals()
            if (source, transform, transfer) != (batches * 10**9, batches * 2 * 10**9, batches * 3 * 10**9):
                torn.append(told.totals())
            assert len(told.per_batch_wall) <= 50

    told = GoodputTracker(kept=50)
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20_000):
        told.start_batch()
        told.record_source(1)
        told.record_transform(2)
        told.record_transfer(3)
        told.end_batch()
    stop.set()
    for thread in threads:
        thread.join()
    assert torn == []
    assert told.summary().total_batches == 20_000


def test_a_fork_goes_on_by_itself() -> None:
    told = GoodputTracker()
    told.start_batch()
    told.record_source(1)
    told.end_batch()

    def child() -> str:
        told.start_batch()
        told.record_source(2)
        told.end_batch()
        return str(told.totals()[2])

    assert forks.run(child) == "3000000000"
    assert told.totals()[2] == 1_000_000_000
