import pytest

from ledger.replay import acme
from ledger.replay.trace import Amounts, BadTrace
from tests.replay.traces import FOLDER

HEAD = "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
GPU_SECOND = 1_000_000


def seren(*rows: str):
    return acme.read((HEAD + "\n".join(rows)).encode())


def test_the_published_examples() -> None:
    told = acme.read((FOLDER / "acme_seren_examples.csv").read_bytes())
    assert told.amounts() == Amounts(held=(936 + 21_544) * GPU_SECOND, first_wait=(32 + 13) * 8 * GPU_SECOND)
    assert [run.outcome for run in told.runs] == ["FAILED", "COMPLETED"]


def test_gpus_are_spread_over_the_nodes() -> None:
    begin, start, end = (f"2023-03-01 00:00:{second:02d}+08:00" for second in (0, 10, 20))
    told = seren(f"1,u,3,8,1,x,CANCELLED,{begin},{start},{end},10,10,80")
    (run,) = told.runs
    assert [worker.states[0].gpus_milli for worker in run.workers] == [3000, 3000, 2000]
    assert {worker.states[-1].reason for worker in run.workers} == {"owner"}


def test_what_has_no_gpus_or_was_never_placed_is_said() -> None:
    told = seren(
        "1,u,1,0,8,x,COMPLETED,2023-03-01 00:00:00+08:00,2023-03-01 00:00:10+08:00,2023-03-01 00:00:20+08:00,10,10,0",
        "2,u,1,4,8,x,CANCELLED,2023-03-01 00:00:00+08:00,,2023-03-01 00:01:00+08:00,0,60,0",
        "2,u,1,4,8,x,CANCELLED,2023-03-01 00:00:00+08:00,,2023-03-01 00:01:00+08:00,0,60,0",
        "3,u,1,4,8,x,RUNNING,2023-03-01 00:00:00+08:00,2023-03-01 00:00:10+08:00,,0,60,0",
    )
    assert told.notes == {acme.WITHOUT_GPUS: 1, acme.NEVER_PLACED: 1, acme.TWICE: 1, acme.UNTOLD: 1}
    assert told.amounts() == Amounts(first_wait=60 * 4 * GPU_SECOND)


def test_times_without_a_zone_are_chinese() -> None:
    row = "1,u,1,1,8,x,TIMEOUT,2023-03-01 08:00:00,2023-03-01 08:00:00,2023-03-01 08:00:01,1,0,1"
    (run,) = seren(row).runs
    assert run.submitted_at == 1_677_628_800_000


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"a,b\n1,2\n", "its first line must name job_id"),
        (b"\xff", "not UTF-8"),
        ((HEAD + "1,u,1,x,8,x,FAILED,2023-03-01,2023-03-01,2023-03-01,1,0,1").encode(), "line 2 has a number"),
        ((HEAD + "1,u,1,1,8,x,FAILED,soon,2023-03-01,2023-03-01,1,0,1").encode(), "line 2 has a time"),
    ],
)
def test_what_is_no_trace_is_refused_with_a_sentence(body: bytes, said: str) -> None:
    with pytest.raises(BadTrace, match=said):
        acme.read(body)
