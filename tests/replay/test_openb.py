from collections import Counter

import pytest

from ledger.core.categories import Phase
from ledger.core.totals import gpu_hours
from ledger.replay import openb
from ledger.replay.trace import BadTrace, TraceState, amounts_of
from tests.replay.traces import OPENB_HELD, OPENB_WAITED, openb_trace

HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


def pods(*lines: str) -> bytes:
    return (HEAD + "".join(f"{line}\n" for line in lines)).encode()


def test_the_published_list_holds_and_waits_what_its_rule_says() -> None:
    held: Counter[str] = Counter()
    waited: Counter[str] = Counter()
    for run in openb_trace().runs:
        amounts = amounts_of(run.workers[0])
        held[run.outcome or ""] += amounts.held
        waited[run.outcome or ""] += amounts.first_wait
        assert amounts.between == 0
    assert +held == OPENB_HELD
    assert waited == OPENB_WAITED
    assert gpu_hours(sum(held.values()), 3) == "51470.674"
    assert [gpu_hours(held[phase], 3) for phase in OPENB_HELD] == ["46439.909", "4094.791", "935.974"]


def test_the_published_list_has_its_pods() -> None:
    assert len(openb_trace().runs) == 8152
    assert openb_trace().notes == {openb.WITHOUT_GPUS: 1088, openb.NEVER_PLACED: 897}
    never = [run for run in openb_trace().runs if all(s.phase is not Phase.RUNNING for s in run.workers[0].states)]
    assert len(never) == 897
    assert {run.outcome for run in never} == {"Pending"}
    # Of these, 36 ask for no GPU: they are among the 1,088 that no ledger has.
    assert sum(run.workers[0].states[0].gpus_milli == 0 for run in never) == 36


def test_a_share_of_a_gpu_is_exact() -> None:
    trace = openb.read(pods("pod-1,1,1,1,460,,LS,Failed,10,100,40", "pod-2,1,1,8,1000,,LS,Running,0,100,0"))
    first, second = trace.runs
    assert first.workers[0].states == (
        TraceState(10_000, Phase.PENDING, "", 1, 460),
        TraceState(40_000, Phase.RUNNING, "", 1, 460),
        TraceState(100_000, Phase.ENDED, "failure", 1),
    )
    assert amounts_of(first.workers[0]) == (460 * 60_000, 460 * 30_000, 0)
    assert amounts_of(second.workers[0]).held == 8_000 * 100_000
    assert (first.ended_at, second.ended_at) == (100_000, None)
    assert (trace.first, trace.last, trace.has_calendar) == (0, 100_000, False)


def test_a_pod_that_was_never_placed_only_waits() -> None:
    trace = openb.read(pods("pod-1,1,1,1,1000,,LS,Pending,10,100,"))
    assert amounts_of(trace.runs[0].workers[0]) == (0, 1000 * 90_000, 0)


def test_a_pod_told_twice_counts_once() -> None:
    trace = openb.read(pods("pod-1,1,1,1,500,,LS,Failed,10,100,40", "pod-1,1,1,1,1000,,LS,Failed,10,100,40"))
    assert [run.workers[0].states[0].gpus_milli for run in trace.runs] == [500]
    assert trace.notes == {"pod told twice, the first time counts": 1}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "its first line must name name, num_gpu"),
        (b"a,b\n1,2\n", "its first line must name name, num_gpu"),
        (pods("pod-1,1,1,one,1000,,LS,Failed,10,100,40"), "line 2 of the pod list"),
        (pods("pod-1,1,1,1,1000,,LS,Failed,10,soon,40"), "line 2 of the pod list"),
        (pods("pod-1,1,1,1,1000,,LS,Failed,10,NaN,40"), "line 2 of the pod list"),
        (pods("pod-1,1,1,1"), "line 2 of the pod list"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_what_is_no_pod_list_says_why(body: bytes, said: str) -> None:
    with pytest.raises(BadTrace, match=said):
        openb.read(body)
