"""What fits a batch, in which parts it goes when it does not, and what the parts say together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from astra.collect.batches import (
    LIMITS,
    LIST,
    READINGS,
    STATES,
    Limits,
    Record,
    batch_of,
    halves,
    lines_of,
    merged,
    records,
)
from astra.collect.items import Item, Items, instant_text
from ledger.batches import Batch
from ledger.decode import BODY_BYTES_MAX, ITEMS_MAX, decode
from ledger.replay import observations

AT = datetime(2026, 10, 1, 12, 0, 0, 125_000, UTC)


def gang(count: int, runs: int = 1) -> dict[str, tuple[Item, ...]]:
    workers = tuple(
        {
            "run": f"r{k % runs}",
            "worker": f"w{k}",
            "at": instant_text(AT),
            "phase": "running",
            "gpus": 1,
            "machine": "m",
        }
        for k in range(count)
    )
    return {"runs": tuple({"uid": f"r{k}", "workspace": "vision"} for k in range(runs)), "workers": workers}


def readings(count: int, runs: int = 1) -> tuple[Item, ...]:
    at = instant_text(AT)
    return tuple({"run": f"r{k % runs}", "worker": f"w{k}", "at": at, "gpu_busy": 50.5} for k in range(count))


def decoded(told: list[Record]) -> Iterator[Batch]:
    for record in told:
        batch = batch_of("test", [record])
        body = json.dumps(batch).encode()
        assert len(body) <= BODY_BYTES_MAX
        yield decode(body, "application/json")
        assert decode("\n".join(lines_of(batch)).encode(), "application/x-ndjson") == decode(body, "application/json")


def test_what_fits_goes_as_one() -> None:
    (record,) = records(Items(AT, machines=({"name": "m"},), **gang(3), complete=True))
    (batch,) = decoded([record])
    assert (record.kind, record.count, batch.complete) == (LIST, 5, True)
    assert batch.named == {("r0", "w0"), ("r0", "w1"), ("r0", "w2")}
    assert batch.sent_at % 1000 == 125


def test_readings_go_apart_with_their_runs() -> None:
    told = records(Items(AT, **gang(2, runs=2), readings=readings(4, runs=2)))
    assert [record.kind for record in told] == [STATES, READINGS]
    for batch in decoded(told):
        assert {run.uid for run in batch.runs} == {"r0", "r1"}


def test_nothing_is_a_word() -> None:
    (record,) = records(Items(AT))
    assert batch_of("test", [record]) == {"source": "test", "sent_at": "2026-10-01T12:00:00.125Z"}
    (record,) = records(Items(AT, complete=True))
    assert (record.kind, record.body) == (LIST, {"complete": True})


@pytest.mark.parametrize(
    ("count", "runs", "limits"), [(30_000, 700, LIMITS), (300, 1, Limits(70, 99_999)), (300, 300, Limits(99, 9_999))]
)
def test_a_large_list_goes_in_parts_of_which_the_last_is_the_list(count: int, runs: int, limits: Limits) -> None:
    items = Items(AT, machines=tuple({"name": f"m{k}"} for k in range(50)), **gang(count, runs), complete=True)
    told = records(items, limits)
    assert [record.kind for record in told] == [*[STATES] * (len(told) - 1), LIST]
    batches = list(decoded(told))
    seen = set[tuple[str, str]]()
    for batch in batches[:-1]:
        assert not batch.complete
        known = {run.uid for run in batch.runs}
        assert len(batch.machines) + len(batch.runs) + len(batch.workers) <= limits.items <= ITEMS_MAX
        assert {item.run for item in batch.workers} <= known  # a run is named wherever it is mentioned
        seen |= {(item.run, item.worker) for item in batch.workers}
    assert batches[-1].complete
    assert batches[-1].named == seen
    assert len(seen) == count
    assert {batch.sent_at for batch in batches} == {batches[0].sent_at}


@pytest.mark.parametrize("limits", [Limits(7, 10_000), Limits(1_000, 700), Limits(3, 600)])
def test_parts_keep_their_order_and_lose_nothing(limits: Limits) -> None:
    items = Items(AT, **gang(40, runs=5), readings=readings(23, runs=5))
    told = records(items, limits)
    assert [item for record in told for item in record.body.get("workers", ())] == list(items.workers)
    assert [item for record in told for item in record.body.get("readings", ())] == list(items.readings)
    assert all(record.count <= limits.items and record.size <= limits.size for record in told)


def record(kind: str, seconds: float, **body: Any) -> Record:
    return Record(kind, AT + timedelta(seconds=seconds), body, 100)


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        ([(STATES, 0), (READINGS, 1), (STATES, 59)], 3),
        ([(STATES, 0), (STATES, 61)], 1),
        ([(STATES, 0), (LIST, 1), (STATES, 2)], 1),
        ([(LIST, 0), (STATES, 1)], 1),
        ([(STATES, 50), (STATES, 0), (STATES, 61)], 2),
    ],
)
def test_what_goes_together(told: list[tuple[str, float]], taken: int) -> None:
    found = [record(kind, seconds) for kind, seconds in told]
    assert len(merged(found)) == taken
    assert len(merged(found, Limits(20_000, 150))) == 1


def test_what_says_from_when_it_saw_goes_alone() -> None:
    assert len(merged([record(STATES, 0, seen_from="2026-10-01T00:00:00Z"), record(STATES, 1)])) == 1


def test_together_the_word_is_the_newest_and_a_label_said_later_counts() -> None:
    first = record(STATES, 0, runs=[{"uid": "r", "workspace": "v", "name": "old"}], workers=[{"worker": "w"}])
    second = record(STATES, 1, runs=[{"uid": "r", "name": "new"}], machines=[{"name": "m", "gpus": 8}])
    third = record(READINGS, 2, machines=[{"name": "m", "ready": False}], readings=[{"worker": "w"}])
    assert batch_of("test", [first, second, third]) == {
        "source": "test",
        "sent_at": "2026-10-01T12:00:02.125Z",
        "machines": [{"name": "m", "gpus": 8, "ready": False}],
        "runs": [{"uid": "r", "workspace": "v", "name": "new"}],
        "workers": [{"worker": "w"}],
        "readings": [{"worker": "w"}],
    }


def test_halves_until_nothing_can_be_halved() -> None:
    (whole,) = records(Items(AT, **gang(64, runs=4), complete=True))
    parts, single, lists = [whole], list[Record](), list[Record]()
    while parts:
        part = parts.pop(0)
        smaller = halves(part)
        parts = smaller + parts  # in their place
        if not smaller:
            (lists if part.kind == LIST else single).append(part)
    assert [item["worker"] for part in single for item in part.body["workers"]] == [f"w{k}" for k in range(64)]
    assert all(part.count == 2 for part in single)  # a worker and its run
    (last,) = decoded(lists)
    assert len(last.named) == 64


def test_what_is_shown_can_be_replayed() -> None:
    told = records(Items(AT, **gang(25_000), readings=readings(3), complete=True))
    text = "".join(f"{line}\n" for one in told for line in lines_of(batch_of("test", [one])))
    batches = list(observations.read(text.encode()))
    assert [len(batch.workers) for batch in batches][-2:] == [0, 0]
    assert sum(len(batch.workers) for batch in batches) == 25_000
    assert len(batches[-2].named) == 25_000
