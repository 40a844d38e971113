"""Delivery: in order, again and again, in smaller parts, put aside; with a word each minute."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from astra.collect.delivery import Delivery
from astra.collect.items import Item, Items, instant_text, now
from astra.collect.outbox import Outbox
from astra.collect.reporting import Reporting, serve
from astra.collect.spool import Spool

AT = datetime(2026, 10, 1, 12, tzinfo=UTC)
TAKEN = {"accepted": 1, "duplicate": 0, "late": 0, "refused": []}
Answer = Callable[[dict[str, Any], bytes], httpx.Response]


class Ledger:
    """A server that answers what a test says, one answer after another, then takes all."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.always: Answer | None = None
        self.tried: list[dict[str, Any]] = []
        self.taken: list[dict[str, Any]] = []
        self.changed = threading.Condition()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        assert request.url.path == "/v1/clusters/east/observations"
        assert request.headers["Authorization"] == "Bearer t"
        answer = self.answers.pop(0) if self.answers else self.always
        self.tried.append(body)
        response = answer(body, request.content) if answer else httpx.Response(202, json=TAKEN)
        with self.changed:
            if response.status_code == 202 and response.text[0] == "{":
                self.taken.append(body)
            self.changed.notify_all()
        return response

    def wait(self, ready: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(ready, 60), self.tried

    @property
    def workers(self) -> list[str]:
        return [item["worker"] for batch in self.taken for item in batch.get("workers", ())]


def says(status: int, detail: str = "", **headers: str) -> Answer:
    return lambda *_: httpx.Response(status, json={"detail": detail}, headers=headers)


def away(*_: object) -> httpx.Response:
    raise httpx.ConnectError("Connection refused")


def states(*numbers: int, size: int = 0, at: datetime = AT) -> Items:
    pad = {"pool": "p" * size} if size else {}
    items: tuple[Item, ...] = tuple(
        {"run": "r", "worker": f"w{k}", "at": instant_text(at), "phase": "running", **pad} for k in numbers
    )
    return Items(at, runs=({"uid": "r", "workspace": "v"},), workers=items)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setattr("astra.collect.outbox.PAUSE_FIRST", 0.01)
    monkeypatch.setattr("astra.collect.outbox.PAUSE_MAX", 0.02)
    monkeypatch.setattr("astra.collect.outbox.PAUSE_SLOW", 0.02)
    return Ledger()


@pytest.fixture
def make(ledger: Ledger, tmp_path: Path) -> Iterator[Callable[..., Outbox]]:
    made: list[Outbox] = []

    def one(start: bool = True, **more: Any) -> Outbox:
        delivery = Delivery("http://ledger", "t", "east", httpx.MockTransport(ledger))
        made.append(Outbox("test/east", Spool(tmp_path / "spool"), delivery, **more))
        if start:
            made[-1].start()
        return made[-1]

    yield one
    for outbox in made:
        if outbox.writer.is_alive():
            outbox.close(60)


Make = Callable[..., Outbox]


def test_states_arrive_at_once_and_wait_for_no_minute(make: Make, ledger: Ledger) -> None:
    outbox = make(word_seconds=3_600, readings_seconds=3_600)
    outbox.put(states(1))
    ledger.wait(lambda: ledger.workers == ["w1"])


def test_readings_wait_for_the_minutes_batch_but_are_on_the_disk(make: Make, ledger: Ledger) -> None:
    outbox = make(readings_seconds=60)
    for second in range(3):
        at = AT + timedelta(seconds=second)
        outbox.put(Items(at, readings=({"run": "r", "worker": "w", "at": instant_text(at), "gpu_busy": 7},)))
    outbox.put(states(1))
    ledger.wait(lambda: ledger.workers == ["w1"])
    until = time.monotonic() + 60
    while outbox.spool.held().records != 3 and time.monotonic() < until:
        time.sleep(0.01)  # the state is forgotten after its answer came
    assert [record.kind for record in outbox.spool.first(("readings", "states"))] == ["readings"] * 3
    outbox.read -= 60
    ledger.wait(lambda: len(ledger.taken) == 2)
    assert len(ledger.taken[1]["readings"]) == 3
    assert ledger.taken[1]["sent_at"] == "2026-10-01T12:00:02.000Z"


def test_a_quiet_source_that_sees_has_a_word_and_one_that_does_not_has_none(make: Make, ledger: Ledger) -> None:
    seeing = threading.Event()
    make(word_seconds=0.6, sees=seeing.is_set)
    time.sleep(0.9)  # nothing may come: there is no event for it
    assert ledger.tried == []
    seeing.set()
    ledger.wait(lambda: len(ledger.taken) >= 2)
    assert list(ledger.taken[0]) == ["source", "sent_at"]
    assert ledger.taken[0]["sent_at"] < ledger.taken[1]["sent_at"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (away, "No answer from http://ledger/v1/ (Connection refused)."),
        (says(503), "busy or has a fault now (503)"),
        (says(500), "busy or has a fault now (500)"),
        (says(429, "slowly", **{"Retry-After": "0"}), "busy or has a fault now (429)"),
        (says(401, "no"), "does not know this token"),
        (says(403, "This needs a token with the scope ingest."), "scope ingest"),
        (says(404, "There is nothing here."), "has no cluster 'east'"),
        (says(404), "is no Goodput server (404)"),
        (says(301, Location="https://else"), "has moved to https://else"),
        (says(200), "is no Goodput server (200)"),
        (lambda *_: httpx.Response(202, text="<html>"), "is no Goodput server (202)"),
        (lambda *_: httpx.Response(400, text="<html>"), "is no Goodput server (400)"),
    ],
)
def test_until_it_is_taken_it_is_said_once_and_sent_again(
    make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture, answer: Answer, said: str
) -> None:
    caplog.set_level(logging.INFO, "astra.collect")
    ledger.answers = [answer] * 4
    outbox = make(start=False)
    for number in range(3):
        outbox.put(states(number, at=AT + timedelta(hours=number)))
    outbox.start()
    ledger.wait(lambda: len(ledger.workers) == 3)
    assert outbox.close(60)
    assert ledger.workers == ["w0", "w1", "w2"]
    assert {json.dumps(batch) for batch in ledger.tried[:5]} == {json.dumps(ledger.taken[0])}  # with the same sent_at
    assert [record.getMessage() for record in caplog.records if said in record.getMessage()][1:] == []
    assert said in caplog.text
    assert "takes what is told again" in caplog.text


def test_pauses_grow_and_differ(make: Make, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox, rests = make(start=False), list[float]()
    monkeypatch.setattr("astra.collect.outbox.PAUSE_FIRST", 0.5)
    monkeypatch.setattr("astra.collect.outbox.PAUSE_MAX", 30.0)
    monkeypatch.setattr(outbox.closing, "wait", rests.append)
    failed = outbox.delivery.post
    ledger.always = away
    for _ in range(12):
        outbox._rest(failed({}))
    tops = [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30]
    assert all(top / 2 <= rest <= top for rest, top in zip(rests, tops, strict=True))
    assert len(set(rests[6:])) > 1


def test_what_is_too_large_goes_in_parts(make: Make, ledger: Ledger) -> None:
    ledger.always = lambda _, body: httpx.Response(413 if len(body) > 30_000 else 202, json=TAKEN)
    outbox = make(start=False)
    whole = states(*range(1000), size=100)
    outbox.put(Items(AT, runs=whole.runs, workers=whole.workers, complete=True))
    outbox.start()
    ledger.wait(lambda: bool(ledger.taken) and bool(ledger.taken[-1].get("complete")))
    assert ledger.workers == [f"w{k}" for k in range(1000)]
    assert ledger.taken[-1]["named"] == {"r": [f"w{k}" for k in range(1000)]}
    assert {batch["sent_at"] for batch in ledger.taken} == {instant_text(AT)}
    tries, taken = len(ledger.tried), len(ledger.taken)
    outbox.put(states(*range(1000), size=100))
    ledger.wait(lambda: len(ledger.workers) == 2000)
    assert len(ledger.tried) - tries == len(ledger.taken) - taken  # it has learned


def test_a_batch_that_is_refused_is_put_aside_and_the_rest_goes_on(
    make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    def bad(body: dict[str, Any], _: bytes) -> httpx.Response:
        refused = any(item["worker"] == "w1" for item in body.get("workers", ()))
        return httpx.Response(400, json={"detail": "Bad."}) if refused else httpx.Response(202, json=TAKEN)

    ledger.always = bad
    outbox = make(start=False)
    for number in range(3):
        outbox.put(states(number))
    outbox.start()
    ledger.wait(lambda: ledger.workers == ["w0", "w2"])
    assert outbox.close(60)
    (file,) = (outbox.spool.folder / "refused").glob("*.ndjson")
    head, *items = [json.loads(line) for line in file.read_text().splitlines()]
    assert head == {"source": "test/east", "sent_at": "2026-10-01T12:00:00.000Z"}
    assert [item["list"] for item in items] == ["runs", "workers"]
    assert caplog.text.count("put aside") == 1
    assert "Bad." in caplog.text


def test_a_clock_that_is_ahead_loses_nothing(make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    behind = format_datetime(now() - timedelta(minutes=3), usegmt=True)
    ledger.answers = [says(400, "sent_at is ahead", Date=behind)] * 2
    make().put(states(1))
    ledger.wait(lambda: ledger.workers == ["w1"])
    assert "ahead of http://ledger/v1/: set it right. Nothing is lost." in caplog.text


def test_refused_items_are_said_once_each(make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    fault = {"list": "workers", "index": 1, "field": "gpus", "error": "must be a number"}
    ledger.always = lambda *_: httpx.Response(202, json={**TAKEN, "refused": [fault]})
    outbox = make()
    for _ in range(3):
        count = len(ledger.taken)
        outbox.put(states(1, 2))
        ledger.wait(lambda count=count: len(ledger.taken) > count)
    assert outbox.close(60)
    assert caplog.text.count("The server refused an item: workers r w2 gpus must be a number") == 1
    assert outbox.told.refused == 3


def test_what_the_disk_does_not_take_is_delivered_from_memory(
    make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = make(start=False)
    pages = outbox.spool.database.execute("PRAGMA page_count").fetchone()[0]
    outbox.spool.database.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(30):
        outbox.put(states(number, size=40 * number))
    outbox.start()
    ledger.wait(lambda: len(set(ledger.workers)) == 30)
    assert ledger.workers == [f"w{k}" for k in range(30)]
    assert "was not written" in caplog.text
    outbox.spool.database.execute("PRAGMA max_page_count = 1000000")
    outbox.put(states(99))
    ledger.wait(lambda: ledger.workers[-1] == "w99")
    assert outbox.close(60)


def test_what_has_to_go_is_counted_and_said(make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    ledger.always = away
    outbox = make(start=False)
    outbox.spool.bound = 20_000
    for number in range(100):
        reading = {"run": "r", "worker": f"w{number}", "at": instant_text(AT), "gpu_busy": number / 7}
        outbox.put(Items(AT + timedelta(minutes=number), readings=(reading,)))
        outbox.put(states(number, at=AT + timedelta(minutes=number)))
        outbox._store()
    assert outbox.told.dropped_states == 0
    assert 0 < outbox.told.dropped_readings < 100
    assert "The spool is full" in caplog.text


def test_another_agent_goes_on_where_this_one_ended(make: Make, ledger: Ledger) -> None:
    """An hour without a server, from which all comes, each word with its own instant."""
    ledger.always = away
    first = make()
    for minute in range(60):
        first.put(states(minute, at=AT + timedelta(minutes=minute)))
    assert not first.close(0.5)
    first.spool.close()
    ledger.always = None
    second = make()
    ledger.wait(lambda: len(ledger.workers) == 60)
    assert ledger.workers == [f"w{k}" for k in range(60)]
    instants = [batch["sent_at"] for batch in ledger.taken]
    assert instants == sorted(instants)
    gaps = [datetime.fromisoformat(b) - datetime.fromisoformat(a) for a, b in zip(instants, instants[1:], strict=False)]
    assert max(gaps) <= timedelta(minutes=2)  # words cover five
    assert second.close(60)


def test_a_line_a_minute_and_metrics_on_the_loopback(
    make: Make, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "astra.collect")
    outbox = make()
    outbox.put(states(1))
    ledger.wait(lambda: bool(ledger.taken))
    assert outbox.close(60)
    Reporting(outbox).line()
    assert (
        "test/east: 1 new items in 1 batches; 0 batches wait (0 bytes, oldest 0 s old); refused 0, dropped 0."
        in caplog.messages
    )
    server, thread = serve(0, outbox)
    try:
        page = httpx.get(f"http://127.0.0.1:{server.server_port}/metrics", trust_env=False).text
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    for line in ("astra_collect_spool_bytes 0.0", "astra_collect_items_total 1.0", "astra_collect_batches_total 1.0"):
        assert f"\n{line}\n" in page
    assert "astra_collect_last_success_timestamp_seconds 1." in page
