"""The reporter: what it says, when, and that no trouble of the ledger's is one of the training's."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from astra import GoodputReporter, GoodputTracker, reporter, sender
from tests.client import forks
from tests.client.reports import TOKEN, Ledger, ledger, until

Make = Callable[..., GoodputReporter]


@pytest.fixture
def east() -> Iterator[Ledger]:
    with ledger() as east:
        yield east


@pytest.fixture
def make(tmp_path: Path, east: Ledger) -> Iterator[Make]:
    """Make reporters of w0 of the run r1, which look only when they are told to; they are closed in the end."""
    made = []

    def make(**said: Any) -> GoodputReporter:
        given = {"api": east.address, "token": TOKEN, "every_sec": 60, "spool": tmp_path / "spool", "on_sigterm": False}
        made.append(GoodputReporter("r1", "w0", **(given | said)))
        assert made[-1].flush()  # it has looked for the first time
        return made[-1]

    yield make
    for one in made:
        one.close()


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def ms(text: str) -> int:
    return round(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp() * 1000)


# --- what it says ---


def test_it_says_the_step_and_how_long_steps_take(make: Make, east: Ledger) -> None:
    said = make()
    for step, seconds in ((7, 1.0), (8, 9.0), (9, 2.0)):
        said.progress(step, seconds)
    before = time.time()
    assert said.flush()
    (report,) = east.reports
    at = report.pop("at")
    assert abs(ms(at) - before * 1000) < 5_000
    assert report == {"worker": "w0", "step": 9, "step_seconds": 2.0}
    assert (east.paths, east.tokens) == (["/v1/runs/r1/batches"], [f"Bearer {TOKEN}"])


def test_it_repeats_the_last_step_while_the_process_lives(make: Make, east: Ledger) -> None:
    said = make(every_sec=0.1)
    said.progress(3)
    east.wait(lambda told: len(told.reports) >= 4)
    assert {report["step"] for report in east.reports} == {3}
    instants = [ms(report["at"]) for report in east.reports]
    assert instants == sorted(set(instants))


def test_a_step_is_told_with_the_instant_at_which_it_was_done(make: Make, east: Ledger) -> None:
    said = make()
    before = time.time() * 1000
    said.progress(3)
    after = time.time() * 1000
    time.sleep(0.6)
    said.flush()
    said.flush()
    first, again = (ms(report["at"]) for report in east.reports)
    assert before - 10 <= first <= after + 10
    assert again - after >= 500


def test_it_times_steps_but_not_the_waiting_in_them(make: Make, east: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]
    monkeypatch.setattr(reporter.time, "perf_counter_ns", lambda: now[0])
    said = make()
    with said.step(5):
        now[0] += 3_000_000_000
        with said.waiting():
            now[0] += 60_000_000_000
    with pytest.raises(KeyError), said.step(6):
        raise KeyError
    monkeypatch.undo()
    said.flush()
    assert (east.reports[0]["step"], east.reports[0]["step_seconds"]) == (5, 3.0)


def test_without_times_a_step_takes_what_lies_between_two_reports(make: Make, east: Ledger) -> None:
    said = make()
    said.progress(10)
    said.flush()
    assert "step_seconds" not in east.reports[0]
    time.sleep(0.2)
    said.progress(12)
    said.flush()
    assert 0.1 <= east.reports[1]["step_seconds"] < 10


def test_a_phase_is_told_when_it_begins_and_when_it_is_over(make: Make, east: Ledger) -> None:
    said = make()
    said.progress(4)
    with said.phase("checkpoint"):
        east.wait(lambda told: any(report.get("doing") == "checkpoint" for report in told.reports))
        with said.phase("evaluation"):
            east.wait(lambda told: told.reports[-1].get("doing") == "evaluation")
    with pytest.raises(KeyError), said.phase("evaluation"):
        raise KeyError
    said.flush()
    assert "doing" not in east.reports[-1]
    assert {report["step"] for report in east.reports if "step" in report} == {4}


def test_nothing_is_said_before_the_first_step(make: Make, east: Ledger) -> None:
    said = make()
    with said.phase("evaluation"):
        said.flush()
    said.flush()
    assert east.reports == []
    said.progress(0)
    said.flush()
    assert [report["step"] for report in east.reports] == [0]


def test_it_says_what_the_tracker_added_since(make: Make, east: Ledger) -> None:
    tracker = GoodputTracker()
    said = make(tracker=tracker)
    for seconds in (1.000001, 2.0):
        tracker.start_batch()
        tracker.record_source(seconds)
        tracker.record_transfer(0.5)
        tracker.end_batch()
        said.flush()
    tracker.reset()
    tracker.start_batch()
    tracker.record_transform(4.0)
    tracker.end_batch()
    said.flush()
    said.flush()
    columns = ("batches", "source_seconds", "transform_seconds", "transfer_seconds")
    found = [tuple(report[name] for name in columns) for report in east.reports]
    assert found == [(1, 1.000001, 0, 0.5), (1, 2.0, 0, 0.5), (1, 0, 4.0, 0)]


def test_the_environment_says_what_is_not_said(east: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"API": f"{east.address}/v1/", "TOKEN": TOKEN, "RUN": "team/llm", "WORKER": "w3", "SPOOL": str(tmp_path)}
    for name, value in said.items():
        monkeypatch.setenv(f"ASTRALYX_{name}", value)
    with GoodputReporter() as told:
        told.progress(1)
    assert (east.paths, east.reports[0]["worker"]) == (["/v1/runs/team%2Fllm/batches"], "w3")


# --- trouble ---


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503, 302])
def test_what_is_refused_for_now_is_sent_later_and_warned_of_once(
    status: int, make: Make, east: Ledger, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "FIRST_PAUSE_SEC", 0.01)
    east.status, east.headers = status, {"Location": f"{east.address}/elsewhere"}
    said = make()
    for step in range(3):
        said.progress(step)
        said.flush()
    until(lambda: east.tries >= 3)
    east.status = 200
    said.flush()
    assert [report["step"] for report in east.reports] == [0, 1, 2, 2]
    assert set(east.paths) == {"/v1/runs/r1/batches"}
    (warning,) = warnings_in(caplog)
    assert "Training goes on" in warning
    assert TOKEN not in caplog.text


def test_a_server_that_is_away_gets_everything_in_order_with_true_times(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    with ledger() as gone:
        port, address = int(gone.address.rpartition(":")[2]), gone.address
    said = make(api=address)
    began = time.perf_counter()
    for step in range(40):
        said.progress(step, 0.25)
        said.flush()
    assert time.perf_counter() - began < 60
    away = time.time() * 1000
    with ledger(port) as back:
        said.flush()
        back.wait(lambda told: len(told.reports) >= 40)
        assert [report["step"] for report in back.reports[:40]] == list(range(40))
        assert all(ms(report["at"]) <= away + 100 for report in back.reports[:40])
        said.close()
    assert len(warnings_in(caplog)) == 1


def test_a_slow_server_holds_nobody_up(make: Make, east: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "TIMEOUT_SEC", 60.0)
    east.hold.clear()
    said = make(every_sec=0.1)
    began = time.perf_counter()
    for step in range(100_000):
        said.progress(step, 0.1)
    with said.phase("checkpoint"):
        pass
    assert time.perf_counter() - began < 30
    assert not said.flush(0.05)
    thread = said._sender
    assert thread is not None
    began = time.perf_counter()
    said.close(0.2)
    assert time.perf_counter() - began < 30
    east.hold.set()
    thread.join()


def test_what_will_never_be_taken_is_dropped(make: Make, east: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    said = make()
    east.status = 400
    said.progress(1)
    said.flush()
    east.status = 200
    said.progress(2)
    said.flush()
    assert [report["step"] for report in east.reports] == [2]
    assert len(warnings_in(caplog)) == 1


def test_single_reports_that_are_refused_are_warned_of(
    make: Make, east: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    east.answer = b'{"accepted": 0, "duplicate": 0, "late": 0, "refused": [{"index": 0, "error": "future"}]}'
    said = make()
    said.progress(1)
    said.flush()
    assert said.delivered == 0
    assert "future" in warnings_in(caplog)[0]


def test_a_spool_that_cannot_be_is_no_trouble_of_the_training(
    make: Make, east: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    east.status = 503
    said = make(spool=tmp_path / "file" / "spool")
    for step in range(3):
        said.progress(step)
        said.flush()
    east.status = 200
    said.flush()
    assert [report["step"] for report in east.reports[:3]] == [0, 1, 2]
    assert len(warnings_in(caplog)) == 1


@pytest.mark.parametrize("bad", ["seven", None, object(), float("nan"), float("inf"), -1, 2**60])
def test_what_is_no_step_is_not_told(bad: Any, make: Make, east: Ledger) -> None:
    said = make()
    said.progress(bad)
    said.flush()
    said.progress(7, step_seconds=float("nan"))
    said.flush()
    assert [report["step"] for report in east.reports] == [7]


def test_an_unknown_phase_is_no_error_of_the_training(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    with make().phase("lunch"):
        pass
    assert "'lunch' is no phase" in warnings_in(caplog)[0]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [({}, "ASTRALYX_API, ASTRALYX_TOKEN must be given"), ({"api": "ftp://x", "token": "t"}, "http:// or https://")],
)
def test_without_what_it_needs_it_says_so_and_reports_nothing(
    given: dict[str, str], wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    said = GoodputReporter("r1", "w0", **given)
    with said.phase("checkpoint"), said.step(1), said.waiting():
        pass
    assert said.flush()
    said.close()
    (warning,) = warnings_in(caplog)
    assert wrong in warning


def test_a_look_that_fails_is_no_end(
    make: Make, east: Ledger, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = make()
    monkeypatch.setattr(said, "_stamp", lambda *_: 1 / 0)
    said.progress(1)
    said.flush()
    monkeypatch.undo()
    said.flush()
    assert [report["step"] for report in east.reports] == [1]
    assert "ZeroDivisionError" in warnings_in(caplog)[0]


# --- clocks, forks, threads ---


def test_a_clock_that_is_set_back_a_little_keeps_the_order(
    make: Make, east: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, clock = make(), [1_800_000_000.0]
    monkeypatch.setattr(reporter.time, "time", lambda: clock[0])
    monkeypatch.setattr(reporter.time, "monotonic_ns", lambda: 0)  # no time passes between a step and its report
    told = []
    for step, by in enumerate((0, 10, -30, 5, -3_600, 1)):
        clock[0] += by
        said.progress(step)
        said.flush()
        told.append(ms(east.reports[-1]["at"]) - 1_800_000_000_000)
    monkeypatch.undo()
    first, second, third, fourth, hour, last = told
    assert second - first == 10_000
    assert (third - second, fourth - third) == (1, 1)
    assert (hour - first, last - hour) == (-3_615_000, 1_000)


def test_a_fork_reports_nothing_and_its_parent_goes_on(make: Make, east: Ledger) -> None:
    said = make()
    said.progress(1)

    def child() -> str:
        said.progress(99)
        with said.phase("checkpoint"):
            pass
        return f"{said.flush(0.1)} {said.close()}"

    assert forks.run(child) == "True None"
    said.flush()
    assert [report["step"] for report in east.reports] == [1]


def test_closing_twice_is_closing(make: Make, east: Ledger) -> None:
    said = make()
    said.progress(1)
    said.close()
    said.close()
    said.progress(2)
    assert said.flush()
    assert [report["step"] for report in east.reports] == [1]
