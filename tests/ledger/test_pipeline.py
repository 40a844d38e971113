"""Reports of training code on Postgres: what is read of them, what is refused, and that again changes nothing."""

import json
from importlib import import_module
from typing import Any

import pytest

from ledger import queries
from ledger.access import scope_of_organization
from ledger.decode import BadBody
from ledger.models import PipelineHour, Refused, Source, Worker
from ledger.pipeline.delivery import deliver, source_of
from ledger.pipeline.reports import REPORTS_MAX, decode
from ledger.queries import RunKey, WorkerPipeline
from tests.ledger.conftest import East, hours, state
from tests.ledger.test_ingest import amounts
from tests.tables import at
from tests.worlds import iso

FOREVER = 1 << 42


def report(moment: str, worker: str = "w0", **fields: Any) -> dict[str, Any]:
    return {"worker": worker, "at": iso(at(moment)), **fields}


def took(batches: int, wall: float, source: float = 0, transform: float = 0, transfer: float = 0) -> dict[str, float]:
    return {
        "batches": batches, "wall_seconds": wall, "source_seconds": source, "transform_seconds": transform,
        "transfer_seconds": transfer,
    }  # fmt: skip


def run_of(east: East) -> RunKey:
    found = queries.find_run(scope_of_organization(east.cluster.organization), "llm")
    assert found is not None
    return found


def send(east: East, now: str, *reports: dict[str, Any]) -> tuple[int, int, int, list[Any]]:
    body = json.dumps({"sent_at": iso(at(now)), "batches": list(reports)}).encode()
    receipt = deliver(run_of(east), decode(body, "run-1"), now=at(now))
    refused = [(one.list, one.index, one.field) for one in receipt.refused]
    return receipt.accepted, receipt.duplicate, receipt.late, refused


def of(east: East) -> list[WorkerPipeline]:
    return list(queries.pipeline(run_of(east), 0, FOREVER))


def test_reports_add_up_by_the_hour_and_the_slowest_comes_first(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1), state("00:00", "running", "w1", gpus=1))
    assert send(
        east,
        "00:59",
        report("00:58", step=10, step_seconds=1.5, **took(10, 20, 4, 5, 6)),
        report("00:59", step=11, **took(1, 1.000001, 0.000001)),
        report("00:59", "w1", step=11, **took(10, 30, 31)),
    ) == (3, 0, 0, [])
    assert send(east, "01:30", report("01:30", **took(9, 5, 1))) == (1, 0, 0, [])
    first, second = of(east)
    assert (first.name, first.batch_us, first.overhead_us) == ("w1", 3_000_000, -1_000_000)
    assert second[:6] == ("w0", 20, 26_000_001, 5_000_001, 5_000_000, 6_000_000)
    assert (second.step, second.step_ms, second.at) == (11, 1_500, at("01:30"))
    assert PipelineHour.objects.count() == 3
    (alone,) = queries.pipeline(run_of(east), at("01:00"), at("02:00"))[:1]
    assert (alone.name, alone.batches) == ("w0", 9)


def test_again_and_late_change_nothing(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    told = [report("00:10", step=1, **took(1, 1)), report("00:20", **took(2, 2)), report("00:30", step=3, **took(4, 4))]
    assert send(east, "00:31", *told) == (3, 0, 0, [])
    before = of(east)
    assert send(east, "00:32", *told)[:3] == (0, 1, 2)
    assert send(east, "00:33", told[2])[:3] == (0, 1, 0)
    assert of(east) == before
    assert before[0].batches == 7


def test_steps_and_phases_are_readings_of_the_runs_own_source(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=8))
    send(east, "00:10", report("00:10", step=5), report("00:11", step=5, doing="evaluation"))
    send(east, "00:40", report("00:40", step=5, doing="evaluation"), report("00:41", step=5))
    send(east, "00:59", report("00:59", step=5))
    east.categorize("01:00")
    assert amounts(east, "00:00", "01:00") == hours(productive=8 * 41 / 60, stalled=8 * 19 / 60)
    assert Source.objects.filter(name="tracker/run-1").exists()
    assert east.check("01:10").differences == []


def test_what_is_wrong_is_refused_and_the_rest_is_taken(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    wrong: list[tuple[dict[str, Any], str]] = [
        (report("00:10", step=-1), "step"),
        (report("00:10", doing="checkpoint"), "doing"),
        (report("00:10", **took(1, -1)), "wall_seconds"),
        (report("00:10", **took(-1, 1)), "batches"),
        (report("00:10", "", step=1), "worker"),
        ({"worker": "w0", "at": "yesterday", "step": 1}, "at"),
        (report("09:00", step=1, **took(1, 1)), "at"),
        ({"worker": "w0"}, ""),
        ({"worker": "w0", "at": iso(at("00:10")), "colour": 1}, ""),
        (report("00:10", batches=1.5), ""),
    ]
    accepted, _, _, refused = send(east, "00:20", *(item for item, _ in wrong), report("00:10", step=1, **took(1, 1)))
    assert accepted == 1
    assert sorted(refused, key=lambda one: one[1]) == [("batches", i, field) for i, (_, field) in enumerate(wrong)]
    assert Refused.objects.count() == len(wrong)
    assert of(east)[0].batches == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"[]", 400), (b"\xff", 400), (b'{"batches": []}', 400), (b"[" * 5000, 400),
        (b'{"sent_at": "now", "batches": []}', 400),
        (b'{"sent_at": "2026-10-01T12:00:00Z", "batches": [], "x": 1}', 400),
        (b'{"sent_at": "2026-10-01T12:00:00Z", "batches": [' + b"1," * REPORTS_MAX + b"1]}", 413),
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
def test_a_body_that_cannot_be_taken(body: bytes, status: int) -> None:
    with pytest.raises(BadBody) as refused:
        decode(body, "r")
    assert refused.value.status == status


def test_a_worker_yet_to_come_is_kept(east: East) -> None:
    east.say("00:00", state("00:00", "running", gpus=1))
    assert send(east, "00:10", report("00:10", "w7", **took(1, 2)))[0] == 1
    assert Worker.objects.filter(name="w7").exists()
    assert {one.name for one in of(east)} == {"w7"}


def test_a_uid_that_is_long_has_a_source_of_its_own() -> None:
    long = "u" * 253
    assert len(source_of(long)) <= 253
    assert source_of(long) != source_of(long[:-1] + "v")


def test_the_hours_of_a_run_are_those_of_its_ledger_and_those_in_which_it_told(
    east: East, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("ledger.queries.runs"), "now", lambda: at("03:30"))
    east.say("02:00", state("02:00", "running", gpus=1))
    run = run_of(east)
    assert queries.pipeline_window(run) == (at("02:00"), at("04:00"))
    for told, reach in (("02:59", ("02:00", "04:00")), ("04:59", ("02:00", "05:00"))):
        assert send(east, "05:00", report(told, **took(1, 1)))[0] == 1
        assert queries.pipeline_window(run) == tuple(map(at, reach))
