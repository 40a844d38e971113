import pytest

from ledger.replay import trace
from ledger.replay.trace import Trace
from tests.replay.traces import openb_trace, philly_trace

HOUR = 3_600_000


@pytest.mark.parametrize("items", [1, 7, 500, 5_000, 10**9])
def test_each_run_is_whole_in_one_batch_of_any_size(items: int) -> None:
    told = philly_trace()
    parts = list(trace.batches(told, source="replay/x", shift=0, workspace="w", items=items))
    assert [run.uid for _, part in parts for run in part.runs] == [run.uid for run in told.runs]
    for runs, part in parts:
        assert runs == len(part.runs) > 0
        assert {item.run for item in part.workers} == {run.uid for run in part.runs}
        assert len(part.runs) == 1 or len(part.runs) + len(part.workers) <= items


@pytest.mark.parametrize("told", [philly_trace(), openb_trace()])
def test_every_batch_says_that_all_of_the_trace_was_watched(told: Trace) -> None:
    for _, part in trace.batches(told, source="replay/x", shift=HOUR, workspace="w"):
        assert part.seen_from == told.first + HOUR <= min(item.at for item in part.workers)
        assert part.sent_at == told.last + HOUR >= max(item.at for item in part.workers)


@pytest.mark.parametrize("end", [10 * HOUR, 10 * HOUR + 1, 11 * HOUR - 1, 0, -1])
@pytest.mark.parametrize("last", [0, 1, HOUR - 1, HOUR, 5 * HOUR + 7])
def test_the_shift_is_whole_hours_and_the_end_lies_in_the_last_one(last: int, end: int) -> None:
    shift = trace.whole_hours(last, end)
    assert shift % HOUR == 0
    assert end - HOUR < last + shift <= end


def test_a_runs_own_workspace_counts_unless_one_is_given() -> None:
    told = philly_trace()
    run = told.runs[0]._replace(workspace="vc-7")
    assert trace.run_item(0, run).workspace == "vc-7"
    assert trace.run_item(0, run, 0, "mine").workspace == "mine"
