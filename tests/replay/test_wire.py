import json

import pytest

from ledger.batches import Batch, Condition, MachineItem, ReadingItem, RunItem, WorkerItem
from ledger.core.categories import Phase
from ledger.decode import decode
from ledger.replay import observations, trace
from ledger.replay.trace import BadTrace
from ledger.replay.wire import body_of, instant_text, lines_of
from tests.replay.traces import openb_trace, philly_trace

AT = 1_790_000_000_123
HOUR = 3_600_000


def batch(**changed: object) -> Batch:
    """Return a batch that uses every field."""
    told = Batch(
        source="a/b",
        sent_at=AT + 5_000,
        seen_from=AT - 60_000,
        complete=True,
        machines=[MachineItem(0, "gpu-7", "h100", 8_000, True), MachineItem(1, "gpu-8", None, None, None)],
        runs=[
            RunItem(
                0,
                "8c1f",
                "vision",
                "llm",
                "Job",
                "ana",
                AT,
                AT + 9,
                "Failed",
                850,
                (Condition("Failed", "True", "OOM", "it ran out of memory", AT),),
            ),
            RunItem(1, "8c20", None, None, None, None, None, None, None, None),
        ],
        workers=[
            WorkerItem(0, "8c1f", "worker-3", AT, Phase.RUNNING, "", 2, 142, "gpu-7", "h100", None),
            WorkerItem(1, "8c1f", "worker-3", AT + 1, Phase.STOPPING, "drain", None, None, None, None, True),
            WorkerItem(2, "8c1f", "ä", AT + 1, Phase.NONE, "", None, 4_096_000, "gpu-9", "", False),
        ],
        readings=[
            ReadingItem(0, "8c1f", "worker-3", AT, AT - 5, 4_999, 1_200, 5_100),
            ReadingItem(1, "8c1f", "worker-3", AT + 1, None, 100_000, None, None),
        ],
        named={("8c1f", "worker-3"), ("8c1f", "ä")},
    )
    for name, value in changed.items():
        setattr(told, name, value)
    return told


def plain() -> Batch:
    return Batch("a", AT)


def ndjson(*batches: Batch) -> bytes:
    return "".join(line for one in batches for line in lines_of(one)).encode()


@pytest.mark.parametrize("told", [batch(), plain()])
def test_a_batch_survives_the_wire(told: Batch) -> None:
    assert decode(json.dumps(body_of(told)).encode(), "application/json") == told
    assert decode(ndjson(told), "application/x-ndjson") == told


@pytest.mark.parametrize("told", [philly_trace(), openb_trace()])
def test_every_batch_of_a_trace_survives_the_wire(told: trace.Trace) -> None:
    shift = trace.whole_hours(told.last, AT)
    parts = [one for _, one in trace.batches(told, source="replay/x", shift=shift, workspace="w")]
    assert sum(len(part.runs) for part in parts) == len(told.runs)
    assert list(observations.read(ndjson(*parts))) == parts


def test_instants_have_milliseconds_and_a_zone() -> None:
    assert instant_text(AT) == "2026-09-21T14:13:20.123Z"


def test_a_file_has_as_many_batches_as_heads() -> None:
    told = [batch(), plain(), batch(source="c")]
    assert list(observations.read(ndjson(*told))) == told
    assert list(observations.read(ndjson(*told).replace(b"\n", b"\n\n"))) == told


def test_a_file_may_be_one_json_body() -> None:
    assert list(observations.read(json.dumps(body_of(batch()), indent=2).encode())) == [batch()]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (ndjson(plain()) + b"{", "line 2 is not JSON"),
        (ndjson(plain(), plain()) + b'{"source": "x"}\n', "the batch that begins in line 3"),
        (b'{"list": "workers"}\n', "the batch that begins in line 1"),
    ],
)
def test_a_file_that_is_none_says_where(body: bytes, said: str) -> None:
    with pytest.raises(BadTrace, match=said):
        list(observations.read(body))


def test_a_broken_item_is_refused_alone() -> None:
    lines = ndjson(batch()) + b'{"list": "workers", "run": "8c1f", "worker": "w", "at": "soon"}\n'
    (told,) = observations.read(lines)
    assert [(r.list, r.index, r.field) for r in told.refused] == [("workers", 3, "at")]
    assert len(told.workers) == 3


def test_a_shift_moves_every_instant_and_nothing_else() -> None:
    moved = observations.shifted(batch(), HOUR, "speech")
    assert observations.span([moved]) == (AT - 60_000 + HOUR, AT + 5_000 + HOUR)
    assert [run.workspace for run in moved.runs] == ["speech", "speech"]
    assert moved.readings[0].since == AT - 5 + HOUR
    assert moved.readings[1].since is None
    assert (moved.runs[0].submitted_at, moved.runs[0].ended_at) == (AT + HOUR, AT + 9 + HOUR)
    assert observations.shifted(observations.shifted(batch(), HOUR), -HOUR) == batch()


def run(uid: str) -> RunItem:
    return RunItem(0, uid, None, None, None, None, None, None, None, None)


def state(run: str, at: int) -> WorkerItem:
    return WorkerItem(0, run, "w", at, Phase.RUNNING, "", None, None, None, None, None)


def test_runs_that_are_told_in_parts_are_put_together() -> None:
    """A part alone would be counted as going on, and taken back with the next."""
    parts = [
        Batch("slurm/a", 9_000, 1_000, runs=[run("a"), run("b")], workers=[state("a", 2_000), state("b", 3_000)]),
        Batch(
            "slurm/a", 8_000, 2_000, runs=[run("c")], workers=[state("b", 4_000), state("c", 5_000), state("a", 6_000)]
        ),
    ]
    parts[1].readings.append(ReadingItem(0, "c", "w", 5_500, None, 1_000, None, None))
    found = observations.whole_runs(parts, "replay/sacct", 6)
    assert [(one.source, one.sent_at, one.seen_from) for one in found] == [("replay/sacct", 9_000, 1_000)] * 2
    assert [[item.uid for item in one.runs] for one in found] == [["a", "b"], ["c"]]
    assert [[(item.run, item.at) for item in one.workers] for one in found] == [
        [("a", 2_000), ("a", 6_000), ("b", 3_000), ("b", 4_000)],
        [("c", 5_000)],
    ]
    assert [len(one.readings) for one in found] == [0, 1]
    assert all([item.index for item in one.workers] == list(range(len(one.workers))) for one in found)
    assert len(observations.whole_runs(parts, "replay/sacct", 1)) == 3
