"""The mapping as text tables: records of Slurm on the left, what is told of their workers on the right.

A record is a line `state submit eligible start end` in seconds of a day, "-" for what is not told, and more by name.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from astra.collect.slurm import gpus, hosts, values
from astra.collect.slurm.attempts import Attempt, Run, runs_of
from astra.collect.slurm.mapping import State, tell
from astra.collect.slurm.record import Job, Record

DAY = 1_795_910_400_000


def at(text: str) -> int | None:
    return None if text == "-" else DAY + int(text) * 1000


def record(line: str, **more: object) -> Record:
    state, submit, eligible, start, end = line.split()
    placed = {"nodes": ("n1",), "held": (8000,)} if start != "-" else {}
    told = {"job": Job("7"), "number": 7, "asked": 8000, "width": 1, "user": "ana", "partition": "p", **placed, **more}
    return Record(state=state, submit=at(submit), eligible=at(eligible), start=at(start), end=at(end), **told)  # type: ignore[arg-type]


def said(states: list[State]) -> list[str]:
    """Return states as "worker second phase reason attempt gpus machine"; what is not told is left out."""
    return [
        " ".join(
            str(word)
            for word in (
                each.worker, (each.at - DAY) // 1000, each.phase, each.reason, f"#{each.attempt}",
                "" if each.gpus is None else f"{each.gpus / 1000:g}", each.machine,
            )
            if word != ""
        )
        for each in states
    ]  # fmt: skip


def told(*records: Record, until: int | None = None) -> list[str]:
    (run,) = runs_of(records)
    return said(tell(run, until).states)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("COMPLETED", "completed"), ("CANCELLED", "owner"), ("TIMEOUT", "time_limit"), ("DEADLINE", "time_limit"),
        ("FAILED", "failure"), ("OUT_OF_MEMORY", "failure"), ("BOOT_FAIL", "failure"), ("NODE_FAIL", "node_lost"),
        ("PREEMPTED", "preemption"),
    ],
)  # fmt: skip
def test_how_each_state_ends(line: str, reason: str) -> None:
    assert told(record(f"{line} 0 0 10 50")) == lines(f"""
        node-0  0 pending #1 8
        node-0 10 running #1 8 n1
        node-0 50 ended {reason} #1
    """)


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ("PREEMPTED", "preemption"), ("NODE_FAIL", "node_lost"), ("REQUEUED", "owner"), ("BOOT_FAIL", "failure"),
        ("FAILED", "failure"),
    ],
)  # fmt: skip
def test_a_requeue_waits_for_its_cause_from_the_end_of_the_attempt_before(state: str, cause: str) -> None:
    assert told(record(f"{state} 0 0 10 50"), record("COMPLETED 52 61 70 90", step=at("75"))) == lines(f"""
        node-0  0 pending #1 8
        node-0 10 running #1 8 n1
        node-0 50 pending {cause} #2 8
        node-0 70 starting #2 8 n1
        node-0 75 running #2 8 n1
        node-0 90 ended completed #2
    """)


def test_what_is_not_eligible_does_not_wait() -> None:
    assert told(record("COMPLETED 0 30 40 50"))[0] == "node-0 30 pending #1 8"
    assert told(record("CANCELLED 0 - - 50")) == []
    assert told(record("CANCELLED 0 60 - 50")) == []
    assert told(record("PENDING 0 5 - -", reason="JobHeldUser"), until=at("99")) == []
    assert told(record("PENDING 0 5 - -", reason="Resources"), until=at("99")) == lines("""
        node-0  5 pending #1 8
        node-0 99 ended #1
    """)


def test_a_cancelled_wait_ends() -> None:
    assert told(record("CANCELLED 0 5 - 50")) == ["node-0 5 pending #1 8", "node-0 50 ended owner #1"]


def test_a_requeued_job_of_which_no_more_is_told_waits_on() -> None:
    assert told(record("REQUEUED 0 0 10 50"), until=at("90"))[2:] == lines("""
        node-0 50 pending owner #2 8
        node-0 90 ended #2
    """)


def test_a_job_that_runs_when_the_dump_is_made_stops_as_far_as_it_is_known() -> None:
    running = record("RUNNING 0 0 10 -")
    assert told(running, until=at("90"))[-1] == "node-0 90 ended #1"
    assert told(replace(running, elapsed=30, suspended=0), until=at("90"))[-1] == "node-0 40 ended #1"


def test_the_first_numbered_step_ends_the_start_up_unless_it_comes_late() -> None:
    assert told(record("COMPLETED 0 10 10 50", step=at("15")))[:2] == lines("""
        node-0 10 starting #1 8 n1
        node-0 15 running #1 8 n1
    """)
    assert told(record("COMPLETED 0 10 10 9000", step=at("8000")))[0] == "node-0 10 running #1 8 n1"


def test_in_its_prolog_it_starts() -> None:
    assert told(record("RUNNING 0 10 10 -", reason="Prolog")) == ["node-0 10 starting #1 8 n1"]
    assert told(record("CONFIGURING 0 10 10 -")) == ["node-0 10 starting #1 8 n1"]


def test_completing_is_stopping_from_the_end_on_and_says_no_more() -> None:
    assert told(record("COMPLETING 0 10 10 50"))[-1] == "node-0 50 stopping #1"


def test_grace_is_preemption_whatever_the_final_state_says() -> None:
    assert told(record("COMPLETED 0 10 10 50", preempted=at("40")))[1:] == lines("""
        node-0 40 stopping preemption #1
        node-0 50 ended completed #1
    """)


def test_a_resized_job_counts_its_early_stretch_once() -> None:
    four = {"nodes": ("n1", "n2", "n3", "n4"), "held": (8000,) * 4, "asked": 32_000, "width": 4}
    two = {"nodes": ("n1", "n2"), "held": (8000,) * 2, "asked": 32_000, "width": 4}
    found = told(record("RESIZING 0 0 0 50", **four), record("COMPLETED 50 50 50 90", **two))
    assert found == lines("""
        node-0  0 running #1 8 n1
        node-0 50 running #2 8 n1
        node-0 90 ended completed #2
        node-1  0 running #1 8 n2
        node-1 50 running #2 8 n2
        node-1 90 ended completed #2
        node-2  0 running #1 8 n3
        node-2 50 ended scale_down #2
        node-3  0 running #1 8 n4
        node-3 50 ended scale_down #2
    """)


def test_a_start_further_back_than_it_ran_is_not_believed() -> None:
    assert told(record("REQUEUED 0 0 0 100", elapsed=40, suspended=0))[:2] == lines("""
        node-0  0 pending #1 8
        node-0 60 running #1 8 n1
    """)


def test_a_dead_node_is_lost_and_may_come_back() -> None:
    run = Run("7", {None: [Attempt(record("RUNNING 0 0 0 -"), lost=(("n1", DAY + 20_000, DAY + 30_000),))]})
    assert said(tell(run).states) == lines("""
        node-0  0 running #1 8 n1
        node-0 20 lost node_lost #1
        node-0 30 running #1 8 n1
    """)


def test_a_failed_prolog_is_a_failure() -> None:
    spoilt = Attempt(record("REQUEUED 0 0 0 20"), booting=True, spoilt=True)
    run = Run("7", {None: [spoilt, Attempt(record("PENDING 22 31 - -"))]})
    assert said(tell(run).states)[-1] == "node-0 20 pending failure #2 8"


def test_suspended_is_idle_and_where_it_lay_unknown_at_the_end() -> None:
    run = Run("7", {None: [Attempt(record("COMPLETED 0 0 0 50", suspended=9))]})
    assert [((each.at - DAY) // 1000, each.busy) for each in tell(run).samples] == [(41, 0)]
    run = Run("7", {None: [Attempt(record("COMPLETED 0 0 0 50"), pauses=((DAY + 10_000, DAY + 19_000),))]})
    assert [((each.at - DAY) // 1000, each.busy) for each in tell(run).samples] == [(10, 0), (19, 100)]


@pytest.mark.parametrize(
    ("suspended", "pauses", "expected"),
    [
        (9, [(10, None)], [(10, 0), (19, 100)]),
        (9, [(10, 14), (20, None)], [(10, 0), (14, 100), (20, 0), (25, 100)]),
        (30, [(20, None)], [(20, 0)]),
        (0, [(20, None)], [(20, 0)]),
        (4, [(10, 14), (20, None)], [(10, 0), (14, 100), (20, 0)]),
    ],
)
def test_a_pause_that_nobody_saw_end_was_over_when_the_sum_says(
    suspended: int, pauses: list[tuple[int, int | None]], expected: list[tuple[int, int]]
) -> None:
    seen = tuple((DAY + a * 1000, None if b is None else DAY + b * 1000) for a, b in pauses)
    run = Run("7", {None: [Attempt(record("COMPLETED 0 0 0 50", suspended=suspended), pauses=seen, watched=True)]})
    assert [((each.at - DAY) // 1000, each.busy) for each in tell(run).samples] == expected


def test_components_of_a_hetjob_are_workers_of_one_run() -> None:
    found = told(
        record("COMPLETED 0 5 5 50", job=Job("7", 0)), record("COMPLETED 0 5 5 50", job=Job("7", 1), held=(2000,))
    )
    assert [line.split()[0] for line in found] == ["het0-node-0"] * 2 + ["het1-node-0"] * 2


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [
        ("COMPLETED 0 0 0 50", "COMPLETED 90000 90000 90000 90050", 2),
        ("PREEMPTED 0 0 0 50", "COMPLETED 52 61 61 80", 1),
        ("PREEMPTED 0 0 0 50", "COMPLETED 200000 200000 200000 200050", 2),
        ("FAILED 0 0 0 50", "COMPLETED 52 61 61 80", 1),
    ],
)
def test_numbers_wrap_and_requeues_go_on(first: str, second: str, runs: int) -> None:
    found = runs_of([record(first), record(second)])
    assert len(found) == runs
    assert len({run.uid for run in found}) == runs
    assert found[0].uid == f"7-{DAY // 1000}"


def test_restarts_tell_where_they_are_counted() -> None:
    one = record("PREEMPTED 0 0 0 50", restarts=0)
    assert len(runs_of([one, record("COMPLETED 52 61 61 80", restarts=0)])) == 2
    assert len(runs_of([one, record("COMPLETED 200000 200000 200000 200050", restarts=1)])) == 1
    assert len(runs_of([record("PREEMPTED 0 0 0 50"), record("COMPLETED 52 61 61 80", user="ben")])) == 2


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("billing=2,cpu=2,gres/gpu:a100=16,gres/gpu=16,mem=2G,node=2", 16_000),
        ("cpu=1,gres/gpu:v100=1", 1000),
        ("gres/gpu=3,gres/gpu:a100=1", 3000),
        ("gres/gpu:1g.5gb=2,gres/gpu=2", 284),
        ("gres/gpu:a100_3g.20gb=1", 428),
        ("gres/gpu:7g.80gb=1", 1000),
        ("gres/gpu:1g.6gb=4", 1000),
        ("gres/gpumem=40G,gres/gpuutil=10,cpu=1", 0),
        ("", 0),
    ],
)
def test_gpus_of_tres(text: str, milli: int) -> None:
    assert gpus.of_tres(text) == milli


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("gpu:a100:8(IDX:0-7)", 8000), ("gres:gpu:a100:8", 8000), ("gres/gpu:8", 8000), ("gpu:2", 2000),
        ("gpu:a100:2(S:0),gpu:h100:2(S:1)", 4000), ("gres/gpu=4", 4000), ("N/A", 0), ("(null)", 0),
        ("gpu:1g.5gb:7", 994),
    ],
)  # fmt: skip
def test_gpus_of_gres(text: str, milli: int) -> None:
    assert gpus.of_gres(text) == milli


def test_gpus_are_shared_out_whole() -> None:
    assert gpus.split(3000, 2) == (2000, 1000)
    assert gpus.split(142, 2) == (71, 71)
    assert gpus.split(8000, 0) == ()
    assert gpus.on_nodes(3000, [1000, 2000], 2) == (1000, 2000)
    assert gpus.on_nodes(3000, [1000], 2) == (2000, 1000)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node[1-3,7]", "node1 node2 node3 node7"),
        ("a[08-10]-x,b", "a08-x a09-x a10-x b"),
        ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
        ("None assigned", ""),
        ("", ""),
    ],
)
def test_lists_of_hosts(text: str, names: str) -> None:
    assert hosts.expand(text) == tuple(names.split())


@pytest.mark.parametrize("text", ["node[1-", "node[x]", "node[1-99999999]"])
def test_what_is_no_list_of_hosts(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        hosts.expand(text)


@pytest.mark.parametrize(
    ("text", "tasks"),
    [("4-6%3", "4 5 6"), ("1,3,5-7", "1 3 5 6 7"), ("0-8:4", "0 4 8"), ("0x70", "4 5 6"), ("[7-8%1]", "7 8")],
)
def test_tasks_of_arrays(text: str, tasks: str) -> None:
    assert list(values.tasks(text)) == tasks.split()
