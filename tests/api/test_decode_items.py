"""What each value of an item may be, at its limit and one beyond, and what becomes of an item that is refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ledger.batches import MachineItem, ReadingItem, RunItem, WorkerItem
from ledger.core.categories import REASONS, Phase
from ledger.core.streams import Doing
from ledger.decode import decode
from tests.api.bodies import JSON, as_json, one, refusal_of

NOON = int(datetime(2026, 10, 1, 12, tzinfo=UTC).timestamp() * 1000)
MINUTE = 60_000
BEFORE = NOON - MINUTE


def test_every_key_of_every_list() -> None:
    body = as_json(
        seen_from="2026-10-01T11:00:00Z",
        complete=True,
        machines=[{"name": "gpu-7", "pool": "h100", "gpus": 8, "ready": True}],
        runs=[
            {
                "workspace": "vision",
                "uid": "8c1f",
                "name": "llm",
                "kind": "PyTorchJob",
                "user": "ana",
                "submitted_at": "2026-10-01T11:00:00Z",
                "ended_at": None,
                "outcome": None,
                "min_goodput": 0.85,
            }
        ],
        workers=[
            {
                "run": "8c1f",
                "worker": "worker-3",
                "at": "2026-10-01T11:59:00Z",
                "phase": "stopping",
                "reason": "drain",
                "attempt": 2,
                "gpus": 7.5,
                "machine": "gpu-7",
                "pool": "h100",
                "stalled": True,
            }
        ],
        readings=[
            {
                "run": "8c1f",
                "worker": "worker-3",
                "at": "2026-10-01T11:59:00Z",
                "from": "2026-10-01T11:58:00Z",
                "gpu_busy": 87.5,
                "step": 1200,
                "step_seconds": 5.1,
            }
        ],
    )
    batch = decode(body, JSON)
    assert (batch.source, batch.sent_at, batch.seen_from, batch.complete) == (
        "kubernetes/east",
        NOON,
        NOON - 60 * MINUTE,
        True,
    )
    assert batch.machines == [MachineItem(0, "gpu-7", "h100", 8000, True)]
    started = NOON - 60 * MINUTE
    assert batch.runs == [RunItem(0, "8c1f", "vision", "llm", "PyTorchJob", "ana", started, None, None, 850)]
    state = (Phase.STOPPING, "drain", 2, 7500, "gpu-7", "h100", True)
    assert batch.workers == [WorkerItem(0, "8c1f", "worker-3", BEFORE, *state)]
    assert batch.readings == [ReadingItem(0, "8c1f", "worker-3", BEFORE, BEFORE - MINUTE, 87_500, 1200, 5100)]
    assert batch.refused == []
    assert batch.named == {("8c1f", "worker-3")}


def test_what_is_left_out_null_or_empty_is_absent() -> None:
    keys = ("phase", "reason", "machine", "pool")
    bare = one("workers").workers
    assert bare == one("workers", **dict.fromkeys(keys, "")).workers
    assert bare == one("workers", **dict.fromkeys((*keys, "attempt", "gpus", "stalled"))).workers
    assert bare == [WorkerItem(0, "8c1f", "worker-3", BEFORE, Phase.NONE, "", None, None, None, None, None)]
    run = one("runs", workspace="", kind=None, user="").runs[0]
    assert (run.workspace, run.kind, run.user) == (None, None, None)
    machine = one("machines", pool=None, gpus=None, ready=None).machines[0]
    assert machine == MachineItem(0, "gpu-7", None, None, None)


def test_ready_and_stalled_say_no_as_well() -> None:
    assert one("machines", ready=False).machines[0].ready is False
    assert one("workers", stalled=False).workers[0].stalled is False


@pytest.mark.parametrize(
    ("list_name", "field"),
    [
        ("machines", "name"),
        ("machines", "pool"),
        ("runs", "uid"),
        ("runs", "workspace"),
        ("runs", "name"),
        ("runs", "kind"),
        ("runs", "user"),
        ("runs", "outcome"),
        ("workers", "run"),
        ("workers", "worker"),
        ("workers", "machine"),
        ("workers", "pool"),
        ("readings", "run"),
        ("readings", "worker"),
    ],
)
def test_names(list_name: str, field: str) -> None:
    assert not one(list_name, **{field: "n" * 253}).refused
    assert refusal_of(list_name, **{field: "n" * 254}) == (field, "must have 1 to 253 characters")
    for bad in ("a\nb", "a\x1bb", "a\x7f", "a\x85b", "a\u2028b"):
        assert refusal_of(list_name, **{field: bad}) == (field, "must not have control characters")
    for good in ("Ünïcode ☃", "../../etc", "<script>", "=cmd", "a:b", '"quoted":', "\U0001f600"):
        assert not one(list_name, **{field: good}).refused


def test_names_are_compared_in_nfc_and_with_their_case() -> None:
    assert one("workers", worker="Cafe\u0301").workers[0].worker == "Caf\u00e9"
    assert one("workers", worker="e\u0301" * 253).workers[0].worker == "\u00e9" * 253
    assert one("workers", worker="ANA").workers[0].worker == "ANA"


@pytest.mark.parametrize(
    ("list_name", "field"),
    [("machines", "name"), ("runs", "uid"), ("workers", "run"), ("workers", "worker"), ("readings", "run")],
)
def test_an_item_without_its_names_is_refused(list_name: str, field: str) -> None:
    assert refusal_of(list_name, **{field: ""}) == (field, "must have 1 to 253 characters")
    batch = decode(as_json(**{list_name: [{}]}), JSON)
    assert batch.refused[0].error == "is missing"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-10-01T12:00:00Z", NOON),
        ("2026-10-01t12:00:00z", NOON),
        ("2026-10-01 14:00:00+02:00", NOON),
        ("2026-10-01T06:30:00-05:30", NOON),
        ("2026-10-01T12:00:00-00:00", NOON),
        ("2026-10-01T12:00:00.1Z", NOON + 100),
        ("2026-10-01T12:00:00.001999999999Z", NOON + 1),
        ("2026-10-01T12:00:00.9999Z", NOON + 999),
        ("2000-01-01T00:00:00Z", 946_684_800_000),
        ("2100-12-31T23:59:59.999Z", 4_133_980_799_999),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ],
)
def test_instants(text: str, at: int) -> None:
    assert one("workers", at=text).workers[0].at == at


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-01T12:00:00",
        "2026-10-01",
        "20261001T120000Z",
        "2026-10-01T12:00Z",
        "2026-10-01T12:00:00.Z",
        "2026-10-01T12:00:00+0200",
        "2026-10-01T24:00:00Z",
        "2026-10-01T12:60:00Z",
        "2026-10-01T12:00:60Z",
        "2026-10-01T12:00:00+24:00",
        "2026-10-01T12:00:00+01:60",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "1999-12-31T23:59:59.999Z",
        "2101-01-01T00:00:00Z",
        "2000-01-01T00:00:00+00:01",
        "٢٠٢٦-10-01T12:00:00Z",
        "now",
        "",
        " 2026-10-01T12:00:00Z",
    ],
)
def test_what_is_no_instant(text: str) -> None:
    field, error = refusal_of("workers", at=text)
    assert field == "at"
    assert error
    if text:
        assert refusal_of("runs", submitted_at=text)[0] == "submitted_at"


@pytest.mark.parametrize(
    ("gpus", "milli"),
    [(0, 0), (8, 8000), (4096, 4_096_000), (8.0, 8000), (1.1, 1100), (0.142, 142), (1.5, 1500), (4095.999, 4_095_999)],
)
def test_gpus(gpus: float, milli: int) -> None:
    assert one("workers", gpus=gpus).workers[0].gpus_milli == milli
    assert one("machines", gpus=gpus).machines[0].gpus_milli == milli


@pytest.mark.parametrize(
    "gpus",
    [-1, -0.001, 4096.001, 4097, 1.0005, 0.0001, 1e300, 10**20, 10**400, True, False, "8", "", [8], {"n": 8}],
)
def test_what_is_no_number_of_gpus(gpus: Any) -> None:
    assert refusal_of("workers", gpus=gpus)[0] == "gpus"
    assert refusal_of("machines", gpus=gpus)[0] == "gpus"


def test_every_count_of_thousandths_is_taken_exactly() -> None:
    counts = [*range(9000), *range(4_087_000, 4_096_001)]
    batch = decode(as_json(machines=[{"name": "gpu-7", "gpus": n / 1000} for n in counts]), JSON)
    assert [item.gpus_milli for item in batch.machines] == counts


@pytest.mark.parametrize(
    ("busy", "milli"),
    [(0, 0), (100, 100_000), (5, 5000), (5.0, 5000), (4.9999, 4999), (4.9991, 4999), (1.001, 1001), (99.9999, 99_999)],
)
def test_busy_is_floored_to_thousandths(busy: float, milli: int) -> None:
    assert one("readings", gpu_busy=busy).readings[0].busy_milli_percent == milli


def test_every_thousandth_of_a_percent_is_taken_exactly() -> None:
    for start in range(0, 100_001, 20_000):
        counts = range(start, min(start + 20_000, 100_001))
        batch = decode(
            as_json(
                readings=[
                    {"run": "r", "worker": "w", "at": "2026-10-01T11:59:00Z", "gpu_busy": n / 1000} for n in counts
                ]
            ),
            JSON,
        )
        assert [item.busy_milli_percent for item in batch.readings] == list(counts)


@pytest.mark.parametrize("busy", [-1, -0.0001, 100.0001, 101, True, "87.5", "busy", [], {}])
def test_what_is_no_percentage(busy: Any) -> None:
    assert refusal_of("readings", gpu_busy=busy)[0] == "gpu_busy"


INTEGERS = [9223372036854775792, 9223372036854775794, 2147483632]


@pytest.mark.parametrize(
    "blank", [*INTEGERS, 9.223372036854775794e18, 140737488355328.0, None, "N/A", "n/a", "NaN", "nan", "", " N/A "]
)
def test_a_blank_is_no_reading_and_no_error(blank: Any) -> None:
    batch = one("readings", gpu_busy=blank)
    assert batch.readings == [ReadingItem(0, "8c1f", "worker-3", BEFORE, None, None, None, None)]
    batch = one("readings", gpu_busy=blank, step=7)
    assert batch.readings[0].step == 7


def test_a_blank_step_is_no_step() -> None:
    assert one("readings", step="N/A", step_seconds="NaN").readings[0].step is None
    assert one("readings", step=2147483632).readings[0].step == 2147483632


def test_steps() -> None:
    assert one("readings", step=0).readings[0].step == 0
    assert one("readings", step=2**53 - 1).readings[0].step == 2**53 - 1
    for bad in (-1, 2**53, 1.5, 7.0, 10**30, "7", True, []):
        assert refusal_of("readings", step=bad)[0] == "step"


def test_step_seconds() -> None:
    for seconds, ms in ((0, 0), (5.1, 5100), (0.0004, 0), (0.0006, 1), (1_000_000, 10**9)):
        assert one("readings", step=1, step_seconds=seconds).readings[0].step_ms == ms
    for bad in (-0.001, 1_000_000.001, 1e300, "5", True):
        assert refusal_of("readings", step=1, step_seconds=bad)[0] == "step_seconds"
    assert refusal_of("readings", step_seconds=5.1) == ("step_seconds", "needs a step")


def test_doing() -> None:
    for said, doing in [
        ("checkpoint", Doing.CHECKPOINT),
        ("evaluation", Doing.EVALUATION),
        ("", Doing.NONE),
        (None, Doing.NONE),
    ]:
        assert one("readings", step=1, doing=said).readings[0].doing is doing
    for bad in ("training", "Checkpoint", "none"):
        assert refusal_of("readings", step=1, doing=bad) == ("doing", "must be one of checkpoint, evaluation")
    assert refusal_of("readings", doing="checkpoint") == ("doing", "needs a step")
    assert refusal_of("readings", step="N/A", doing="checkpoint") == ("doing", "needs a step")


def test_step_seconds_need_a_number() -> None:
    assert refusal_of("readings", step="N/A", step_seconds=5.1) == ("step_seconds", "needs a step")


def test_from_lies_before_at() -> None:
    at = "2026-10-01T11:59:00Z"
    assert one("readings", **{"from": at}).readings[0].since == BEFORE
    assert refusal_of("readings", **{"from": "2026-10-01T11:59:00.001Z"}) == ("from", "must not be after at")


def test_attempts() -> None:
    assert one("workers", attempt=1).workers[0].attempt == 1
    assert one("workers", attempt=1_000_000).workers[0].attempt == 1_000_000
    for bad in (0, -1, 1_000_001, 1.5, 2.0, True, "2", 10**30):
        assert refusal_of("workers", attempt=bad)[0] == "attempt"


def test_min_goodput() -> None:
    for good, milli in ((0, 0), (1, 1000), (0.85, 850), (0.999, 999)):
        assert one("runs", min_goodput=good).runs[0].min_goodput_milli == milli
    for bad in (-0.001, 1.001, 0.8505, True, "0.85"):
        assert refusal_of("runs", min_goodput=bad)[0] == "min_goodput"


def test_phases_and_reasons() -> None:
    for phase in Phase:
        assert one("workers", phase=phase.label).workers[0].phase is phase
    for reason in REASONS:
        assert one("workers", phase="stopping", reason=reason).workers[0].reason == reason
        assert refusal_of("workers", reason=reason) == ("reason", "needs a phase")
    for bad in ("Running", "running ", "none", 3, True):
        assert refusal_of("workers", phase=bad)[0] == "phase"
    for bad in ("bored", "Drain", 3):
        assert refusal_of("workers", phase="stopping", reason=bad)[0] == "reason"


@pytest.mark.parametrize("bad", [0, 1, "true", [], {}])
def test_flags_are_booleans(bad: Any) -> None:
    assert refusal_of("workers", stalled=bad)[0] == "stalled"
    assert refusal_of("machines", ready=bad)[0] == "ready"


@pytest.mark.parametrize("list_name", ["machines", "runs", "workers", "readings"])
def test_a_key_that_is_not_known_is_refused_by_its_name(list_name: str) -> None:
    assert refusal_of(list_name, gpu_buzy=1) == ("gpu_buzy", "is not a known key")
    assert refusal_of(list_name, **{"x" * 1000: 1})[0] == "x" * 64
    for raw in (5, "x", None, [], True):
        batch = decode(as_json(**{list_name: [raw]}), JSON)
        assert (batch.refused[0].field, batch.refused[0].item) == ("", raw)


def test_a_machine_without_a_pool_takes_that_of_the_batch_else_none() -> None:
    workers = [
        {"run": "r", "worker": "a", "at": "2026-10-01T11:59:00Z", "machine": "gpu-7"},
        {"run": "r", "worker": "b", "at": "2026-10-01T11:59:00Z", "machine": "gpu-8"},
        {"run": "r", "worker": "c", "at": "2026-10-01T11:59:00Z", "machine": "gpu-7", "pool": "a100"},
        {"run": "r", "worker": "d", "at": "2026-10-01T11:59:00Z", "pool": "a100"},
        {"run": "r", "worker": "e", "at": "2026-10-01T11:59:00Z"},
    ]
    machines = [{"name": "gpu-7", "pool": "h100"}, {"name": "gpu-8", "pool": ""}]
    batch = decode(as_json(machines=machines, workers=workers), JSON)
    assert [item.pool for item in batch.workers] == ["h100", "", "a100", "a100", None]


def test_bad_items_are_refused_one_by_one_and_the_rest_is_kept() -> None:
    good = {"run": "r", "worker": "w", "at": "2026-10-01T11:59:00Z"}
    batch = decode(
        as_json(
            workers=[good, {**good, "gpus": -1}, {**good, "at": "soon"}, 7, good],
            readings=[{**good, "gpu_busy": 101}, {**good, "gpu_busy": 1}],
        ),
        JSON,
    )
    assert [(r.list, r.index, r.field) for r in batch.refused] == [
        ("workers", 1, "gpus"),
        ("workers", 2, "at"),
        ("workers", 3, ""),
        ("readings", 0, "gpu_busy"),
    ]
    assert [item.index for item in batch.workers] == [0, 4]
    assert [item.index for item in batch.readings] == [1]


def test_a_list_names_also_the_workers_of_refused_items() -> None:
    at = "2026-10-01T11:59:00Z"
    batch = decode(
        as_json(
            complete=True,
            workers=[
                {"run": "r", "worker": "good", "at": at},
                {"run": "r", "worker": "of-a-bad-value", "at": at, "gpus": -1},
                {"run": "r", "worker": "Cafe\u0301", "at": at, "gpus": "8"},
                {"run": "r", "worker": 7, "at": at},
                {"run": "", "worker": "nameless", "at": at},
                {"worker": "of-no-run", "at": at},
                "w",
            ],
            readings=[{"run": "r", "worker": "only-read", "at": at}],
        ),
        JSON,
    )
    assert batch.named == {("r", "good"), ("r", "of-a-bad-value"), ("r", "Caf\u00e9")}
