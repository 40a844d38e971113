"""What may befall logs on their way: a ledger that is away, a pod that goes, a program that prints too much."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from astra.api import Api
from astra.collect.kubernetes import reading
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.loglines import LINE_BYTES_MAX, STAMP_BYTES, Budget
from astra.collect.kubernetes.places import Places
from astra.collect.kubernetes.podlogs import LOGS_MAX, PodLogs, Timing, gap_of
from astra.collect.kubernetes.reading import ROOM_LINES, WINDOW_LINES
from tests.client.kubernetes.building import Told, job, node, owned, pod
from tests.client.kubernetes.logserver import LogServer, stamped

LIMITS = Path(__file__).parents[3] / "docs" / "limits.md"
PATIENCE = 60.0
NOON = 1_790_856_000_000


class Book:
    """Takes lines as a ledger does. `answers` come first, one a window: a status, 0 for no answer."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.answers: list[int] = []
        self.frozen = False
        self.asked: list[str] = []
        self.turned = threading.Condition()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        with self.turned:
            self.turned.notify_all()
            if not request.url.path.endswith("/logs"):
                self.asked.append(f"{request.method} {request.url.path}")
                return httpx.Response(404, json={"detail": "none"})
            status = self.answers.pop(0) if self.answers else 202
            if status == 0:
                raise httpx.ConnectError("away")
            body = json.loads(request.content)
            if status == 202:
                self.bodies.append(body)
            return httpx.Response(
                status, json={"read": len(body["lines"]), "again": 0, "left": 0, "events": 0, "frozen": self.frozen}
            )

    @property
    def lines(self) -> list[str]:
        return [line for body in self.bodies for line in body["lines"]]

    def wait_for(self, true: Callable[[], bool]) -> None:
        with self.turned:
            assert self.turned.wait_for(true, PATIENCE), (len(self.lines), self.asked)


class World:
    """A pod whose log is read by the real readers, and a ledger for it; `see` is what the agent's turns do."""

    def __init__(self, path: Path) -> None:
        self.server, self.book, self.told, self.path = LogServer(("pods",)), Book(), Told(), path
        self.job = job(master=1)
        self.job["metadata"]["annotations"] = {"astralyx.io/log-profile": "maxtext"}
        self.pod = pod("p-0", runs="12:00:05", **owned(self.job, "master"))
        self.server.load("pods", [self.pod])
        self.told.put("12:00:06", node(), self.job, self.pod)
        self.logs = self.begun()

    def begun(self) -> PodLogs:
        server = Api("http://ledger", "t" * 40, patience=0, transport=httpx.MockTransport(self.book))
        logs = PodLogs(
            Access(self.server.url),
            server,
            lambda: Places(self.path),
            Timing(window=0.05, seen=0.2, settle=0.05, lag=0.6),
        )
        logs.start()
        return logs

    def see(self) -> None:
        self.logs.seen_at = 0.0
        self.logs.see(self.told.mapping.runs.values(), speaks=True)

    def read(self) -> None:
        """Look, ask for the profile, look again: now its log is read."""
        self.see()
        self.book.wait_for(lambda: "GET /v1/log-profiles/maxtext" in self.book.asked)
        self.until(lambda: bool(self.logs.containers))
        self.see()

    def until(self, true: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        with self.book.turned:
            while not true():
                assert time.monotonic() < end
                self.book.turned.wait(0.02)

    def write(self, count: int, begin: int = 0, text: str = "line") -> list[str]:
        texts = [stamped(NOON + number, f"{text} {number}") for number in range(begin, begin + count)]
        self.server.write("p-0", 0, *texts)
        return texts


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "logs.jsonl")
    with world.server:
        yield world
        world.logs.close()


def test_a_ledger_that_is_away_holds_up_no_memory_and_loses_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.book.answers = [0, 0, 503]
    texts = world.write(3 * ROOM_LINES)
    world.read()
    world.until(lambda: bool(world.logs.tasks))
    (task,) = world.logs.tasks.values()
    world.until(lambda: len(task.reader.waiting) == ROOM_LINES)
    world.book.wait_for(lambda: len(world.book.lines) >= len(texts))
    assert world.book.lines == texts
    assert all(len(body["lines"]) <= WINDOW_LINES and "first" not in body for body in world.book.bodies)
    assert {(body["worker"], body["attempt"]) for body in world.book.bodies} == {("master-0", 1)}
    assert sum("cannot be reached" in record.message for record in caplog.records) == 1


def test_a_run_that_the_ledger_does_not_know_yet_is_tried_again(world: World) -> None:
    world.book.answers = [404]
    texts = world.write(10)
    world.read()
    world.book.wait_for(lambda: len(world.book.lines) == 10)
    assert world.book.lines == texts


def test_a_quiet_log_is_told_to_be_alive_while_it_is_open(world: World) -> None:
    world.write(1)
    world.read()
    world.book.wait_for(lambda: sum(not body["lines"] and "seen_at" in body for body in world.book.bodies) >= 2)


def test_many_logs_are_sent_more_seldom_than_a_server_takes_of_a_token() -> None:
    assert gap_of(Timing(), 10) == Timing().window
    row = re.search(r"\| `THROTTLE_READ` \|[^|]*\| ([\d,]+) \|", LIMITS.read_text())
    assert row is not None
    posts_a_minute = LOGS_MAX * 60 / gap_of(Timing(), LOGS_MAX)
    assert posts_a_minute + 60 < int(row[1].replace(",", "")), "with a question a second"
    assert gap_of(Timing(), LOGS_MAX) <= 60, "a log's last step is told each minute"


def test_a_pod_that_goes_is_read_to_its_end_and_then_let_go(world: World) -> None:
    texts = world.write(5)
    world.read()
    world.book.wait_for(lambda: len(world.book.lines) == 5)
    texts += world.write(5, begin=5)
    world.server.change("pods", "DELETED", world.pod)
    world.book.wait_for(lambda: len(world.book.lines) == 10)
    world.until(lambda: not world.logs.tasks)
    assert world.book.lines == texts
    assert [place.done for place in world.logs.places.of.values()] == [True]
    world.see()
    assert world.logs.tasks == {}


def test_a_status_that_lags_behind_a_restart_is_not_believed(world: World) -> None:
    """A stream that ended by itself is not opened again at once, though the pod says that the container runs."""
    texts = world.write(5)
    world.read()
    world.book.wait_for(lambda: len(world.book.lines) == 5)
    asked = len(world.server.asked)
    began = time.monotonic()
    world.server.end_streams()
    world.server.wait_for_follower(asked + 1)
    assert time.monotonic() - began >= 0.6
    texts += world.write(1, begin=5)
    world.book.wait_for(lambda: len(world.book.lines) == 6)
    assert world.book.lines == texts


def test_a_program_that_prints_too_much_is_cut_and_the_rest_counted(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reading, "Budget", lambda at: Budget(at, minute=0, burst=1_000))
    texts = world.write(100)
    world.read()
    world.book.wait_for(lambda: sum(body["dropped"] + len(body["lines"]) for body in world.book.bodies) == 100)
    kept = world.book.lines
    assert kept == texts[: len(kept)]
    assert sum(map(len, kept)) <= 1_000 < sum(map(len, texts))
    said = re.compile(r"\d+ lines of vision/p-0 \(main\) were left out")
    world.until(lambda: any(said.search(record.message) for record in caplog.records))


def test_a_long_line_is_cut(world: World) -> None:
    world.write(1, text="x" * 20_000)
    world.write(1, begin=1)
    world.read()
    world.book.wait_for(lambda: len(world.book.lines) == 2)
    assert [len(line) for line in world.book.lines] == [LINE_BYTES_MAX + STAMP_BYTES, len(stamped(NOON, "line 1"))]


def test_after_the_measurement_was_frozen_nothing_is_read_any_more(world: World) -> None:
    world.book.frozen = True
    world.write(5)
    world.read()
    world.until(lambda: bool(world.book.bodies) and not world.logs.tasks)
    world.write(5, begin=5)
    world.see()
    assert world.logs.tasks == {}
    assert len(world.book.bodies) == 1


def test_while_another_agent_speaks_nothing_is_read_and_then_it_goes_on(world: World) -> None:
    texts = world.write(5)
    world.read()
    world.book.wait_for(lambda: len(world.book.lines) == 5)
    world.logs.seen_at = 0.0
    world.logs.see(world.told.mapping.runs.values(), speaks=False)
    world.until(lambda: not world.logs.tasks)
    texts += world.write(5, begin=5)
    world.see()
    world.book.wait_for(lambda: len(world.book.lines) == 10)
    assert world.book.lines == texts


def test_an_agent_that_begins_again_goes_on_where_the_last_one_was(world: World) -> None:
    texts = world.write(700)
    world.read()
    world.book.wait_for(lambda: len(world.book.lines) == 700)
    world.until(lambda: any(place.last for place in world.logs.places.of.values()))
    world.logs.close()
    texts += world.write(50, begin=700)
    world.logs = world.begun()
    world.read()
    world.until(lambda: len(world.book.lines) >= 750)
    assert world.book.lines == texts
