import pytest

from ledger.core.categories import Phase
from ledger.core.totals import gpu_hours
from ledger.replay import philly
from ledger.replay.trace import Amounts, BadTrace, Trace, TraceState
from tests.replay.traces import GPU_SECOND, PHILLY_BETWEEN, PHILLY_FIRST_WAIT, PHILLY_HELD, SCHEMA, jobs, philly_trace


def lines(trace: Trace, run: int = 0) -> dict[str, list[str]]:
    """Return each worker's states as "hh:mm phase attempt gpus machine reason"."""
    return {worker.name: [line(state) for state in worker.states] for worker in trace.runs[run].workers}


def line(state: TraceState) -> str:
    minutes = state.at // 60_000 % 1440
    gpus = "-" if state.gpus_milli is None else state.gpus_milli // 1000
    told = f"{minutes // 60:02d}:{minutes % 60:02d} {state.phase.label} {state.attempt or '-'} {gpus}"
    return f"{told} {state.machine or '-'} {state.reason}".rstrip()


def attempt(start: str | None, end: str | None, **machines: int) -> dict:
    told = {"start_time": start and f"2017-10-07 {start}:00", "end_time": end and f"2017-10-07 {end}:00"}
    detail = [{"ip": ip, "gpus": [f"gpu{k}" for k in range(gpus)]} for ip, gpus in machines.items()]
    return told | ({"detail": detail} if detail else {})


def test_the_published_extract_holds_and_waits_what_its_rule_says() -> None:
    assert philly_trace().amounts() == Amounts(PHILLY_HELD, PHILLY_FIRST_WAIT, PHILLY_BETWEEN)
    assert [gpu_hours(amount, 3) for amount in philly_trace().amounts()] == ["396167.202", "12103.470", "2534.648"]


def test_the_published_extract_has_its_jobs_and_attempts() -> None:
    states = [state for run in philly_trace().runs for worker in run.workers for state in worker.states]
    assert len(philly_trace().runs) == 1517
    assert sum(state.phase is Phase.RUNNING for state in states) == 2219
    assert sum(max(state.attempt or 0 for state in run.workers[0].states) > 1 for run in philly_trace().runs) == 399
    assert not philly_trace().notes


def test_56_attempts_start_in_the_very_second_the_last_one_ended() -> None:
    at_once = 0
    for run in philly_trace().runs:
        for before, after in zip(run.workers[0].states, run.workers[0].states[1:], strict=False):
            at_once += before.phase is Phase.PENDING and before.at == after.at and before.attempt != 1
    assert at_once == 56


def test_the_native_format_names_machines_and_ends() -> None:
    trace = philly.read(SCHEMA.read_bytes())
    assert trace.amounts() == Amounts(1_546_048 * GPU_SECOND, 240 * GPU_SECOND, 56 * GPU_SECOND)
    assert gpu_hours(trace.amounts().held, 4) == "429.4578"
    assert lines(trace) == {
        "main": [
            "01:11 pending 1 8 -",
            "01:12 running 1 8 m47",
            "01:13 pending 2 8 - failure",
            "01:13 running 2 8 m412",
            "06:53 ended 2 - - completed",
        ]
    }
    assert (trace.runs[0].outcome, trace.runs[0].user, trace.runs[0].workspace) == ("Pass", "ce2f4c", "ee9e8c")


def test_an_attempt_on_two_machines_is_a_gang_of_two() -> None:
    told = {"attempts": [attempt("01:10", "02:00", m1=8, m2=4), attempt("02:05", "03:00", m3=8)]}
    assert lines(philly.read(jobs(told))) == {
        "worker-0": [
            "01:00 pending 1 8 -",
            "01:10 running 1 8 m1",
            "02:00 pending 2 8 - failure",
            "02:05 running 2 8 m3",
            "03:00 ended 2 - -",
        ],
        "worker-1": ["01:00 pending 1 4 -", "01:10 running 1 4 m2", "02:00 ended - - - scale_down"],
    }


def test_a_worker_that_sits_an_attempt_out_comes_back() -> None:
    told = {
        "attempts": [
            attempt("01:10", "02:00", a=1, b=1),
            attempt("02:05", "03:00", a=2),
            attempt("03:10", "04:00", a=1, b=3),
        ]
    }
    assert lines(philly.read(jobs(told)))["worker-1"] == [
        "01:00 pending 1 1 -",
        "01:10 running 1 1 b",
        "02:00 ended - - - scale_down",
        "03:00 pending 3 3 - failure",
        "03:10 running 3 3 b",
        "04:00 ended 3 - -",
    ]


def test_a_job_still_running_stops_at_the_end_of_the_trace() -> None:
    other = {"id": "job-2", "attempts": [attempt("01:30", "05:00")]}
    trace = philly.read(jobs({"status": "Pass", "attempts": [attempt("01:10", None)]}, other))
    assert lines(trace)["main"][-1] == "05:00 ended 1 - -"
    assert trace.runs[0].ended_at is None
    assert trace.notes == {"job still running at the end of the trace, stopped there": 1}


def test_attempts_that_overlap_are_held_once() -> None:
    trace = philly.read(jobs({"num_gpus": 1, "attempts": [attempt("01:00", "03:00"), attempt("02:00", "04:00")]}))
    assert trace.amounts() == Amounts(held=3 * 3600 * GPU_SECOND)


def test_a_job_that_was_never_placed_counts_nothing() -> None:
    trace = philly.read(jobs({"attempts": []}, {"id": "job-2", "attempts": [attempt(None, None)]}))
    assert trace.amounts() == Amounts()
    assert trace.notes == {
        "job that was never placed; when it gave up is not told, so its wait counts nothing": 2,
        "attempt that was never placed, left out": 1,
    }


def test_a_job_told_twice_counts_once() -> None:
    trace = philly.read(jobs({}, {"num_gpus": 16}))
    assert len(trace.runs) == 1
    assert trace.amounts().held == 8 * 3000 * GPU_SECOND
    assert trace.notes == {"job told twice, the first time counts": 1}


def test_a_job_without_a_submission_is_left_out() -> None:
    trace = philly.read(jobs({}, {"id": "job-2", "submitted_time": None}, {"id": ""}))
    assert [run.uid for run in trace.runs] == ["job-1"]
    assert trace.notes == {"job without an id or a submitted_time, left out": 2}


def test_times_without_a_zone_are_taken_as_utc() -> None:
    assert philly.instant("1970-01-01 00:00:01") == 1000
    assert philly.instant("1970-01-01T02:00:01+02:00") == 1000
    assert philly.instant("None") is philly.instant(None) is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"id,num_gpus\n", "it is not JSON"),
        (b'{"id": 1}', "a JSON list of jobs"),
        (b"[1]", "a JSON list of jobs"),
        (b"[]", "no job in this file"),
        (jobs({"submitted_time": "yesterday"}), "not a time: 'yesterday'"),
        (jobs({"num_gpus": "eight"}), "job job-1 is not as the format says"),
        (jobs({"attempts": [1]}), "job job-1 is not as the format says"),
        (jobs({"attempts": [{"start_time": "soon"}]}), "not a time: 'soon'"),
        (b"[" * 100_000, "it is not JSON"),
    ],
)
def test_what_is_no_philly_trace_says_why(body: bytes, said: str) -> None:
    with pytest.raises(BadTrace, match=said):
        philly.read(body)
