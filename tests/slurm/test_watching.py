"""The agent's loop against a scripted Slurm: what it tells, when, and only once."""

from __future__ import annotations

import threading
from pathlib import Path

from astra.collect.items import Items
from astra.collect.slurm.notebook import Notebook
from astra.collect.slurm.record import Job
from tests.slurm.scripted import NODE, Agent, Scripted, all_of, job
from tests.slurm.test_mapping import DAY, at, lines

WAITS = job("PENDING 0 0 - -", "Resources")
PROLOG = job("RUNNING 0 0 10 -", "Prolog")
RUNS = job("RUNNING 0 0 10 -")


def test_a_life_is_told_as_it_goes_and_nothing_twice() -> None:
    agent = Agent(Scripted())
    assert agent.ask(2, WAITS) == ["node-0 0 pending #1 8"]
    assert agent.ask(4, WAITS) == []
    assert agent.ask(11, PROLOG) == ["node-0 10 starting #1 8 n1"]
    assert agent.ask(13, RUNS) == ["node-0 13 running #1 8 n1"]
    assert agent.ask(15, RUNS) == []
    assert agent.ask(51, job("COMPLETING 0 0 10 50")) == ["node-0 50 stopping #1"]
    assert agent.ask(53, job("COMPLETED 0 0 10 50")) == ["node-0 50 ended completed #1"]
    assert agent.ask(55, job("COMPLETED 0 0 10 50")) == []


def test_what_is_suspended_before_it_was_seen_to_run_had_begun() -> None:
    agent = Agent(Scripted())
    agent.ask(11, PROLOG)
    assert agent.ask(14, job("SUSPENDED 0 0 10 -", switched=at("12"))) == ["node-0 12 running #1 8 n1"]
    assert agent.ask(20, job("RUNNING 0 0 10 -", switched=at("19"))) == []
    told = [(each["at"][11:19], each["gpu_busy"]) for batch in agent.told for each in batch.readings]
    assert told == [("00:00:12", 0), ("00:00:19", 100)]


def test_the_accounting_tells_more_exactly_when_work_began() -> None:
    slurm = Scripted(records=[job("COMPLETED 0 0 10 50", step=at("12"))])
    agent = Agent(slurm)
    for second, listed in ((11, PROLOG), (14, RUNS)):
        agent.ask(second, listed)
    assert agent.ask(60) == ["node-0 12 running #1 8 n1", "node-0 50 ended completed #1"]


def test_a_new_job_with_earlier_attempts_keeps_the_name_of_its_first() -> None:
    slurm = Scripted(records=[job("PREEMPTED 0 0 10 50", restarts=None), job("RUNNING 52 61 70 -", restarts=None)])
    agent = Agent(slurm)
    agent.ask(80, job("RUNNING 52 61 70 -", restarts=1))
    assert slurm.asked == ["7"]
    assert {str(item["run"]) for each in agent.told for item in each.workers} == {"7-1795910400"}
    assert "node-0 50 pending preemption #2 8" in all_of(agent.told)


def test_a_job_that_vanished_is_looked_up() -> None:
    slurm = Scripted()
    agent = Agent(slurm)
    agent.ask(20, RUNS)
    assert agent.ask(30) == []
    slurm.records = [job("FAILED 0 0 10 25")]
    assert agent.ask(32) == ["node-0 25 ended failure #1"]
    assert slurm.asked == ["7", "7"]


def test_one_that_vanished_is_in_no_whole_list() -> None:
    """Without an end from sacct the server ends it where it was last seen."""
    agent = Agent(Scripted(deaf={"sacct"}))
    agent.ask(20, RUNS)
    assert len(agent.source.messages.whole(0).workers) == 1
    agent.ask(30)
    assert agent.source.messages.whole(0).workers == ()


def test_while_sacct_is_away_a_requeued_job_waits_for_its_name_but_not_for_ever() -> None:
    slurm = Scripted(deaf={"sacct"}, records=[job("PREEMPTED 0 0 10 50", restarts=None)])
    agent = Agent(slurm)
    again = job("RUNNING 52 61 70 -", restarts=1)
    assert [agent.ask(second, again) for second in (80, 82, 84)] == [[], [], []]
    slurm.deaf = set()
    assert "node-0 50 pending preemption #2 8" in agent.ask(86, again)
    other = Agent(Scripted(deaf={"sacct"}))
    assert [bool(other.ask(second, again)) for second in (80, 82, 84, 86, 88)] == [False] * 4 + [True]


def test_a_cluster_without_accounting_is_told_by_its_queue() -> None:
    agent = Agent(Scripted(deaf={"sacct"}))
    agent.ask(5, WAITS)
    agent.ask(11, RUNS)
    assert agent.ask(60, job("TIMEOUT 0 0 10 50")) == ["node-0 50 ended time_limit #1"]


def test_what_squeue_showed_too_long_is_put_right() -> None:
    """Its clock is ahead: it saw the prolog over at 20, when the job had ended at 15."""
    agent = Agent(Scripted())
    agent.ask(12, PROLOG)
    assert agent.ask(20, RUNS) == ["node-0 20 running #1 8 n1"]
    assert agent.ask(25, job("FAILED 0 0 10 15")) == lines("""
        node-0 15 ended failure #1
        node-0 20 ended failure #1
    """)
    assert agent.ask(27, job("FAILED 0 0 10 15")) == []


def test_a_hold_ends_a_wait_and_a_release_begins_it_again() -> None:
    agent = Agent(Scripted())
    assert agent.ask(2, WAITS) == ["node-0 0 pending #1 8"]
    assert agent.ask(20, job("PENDING 0 - - -", "JobHeldUser")) == ["node-0 20 ended #1"]
    assert agent.ask(40, job("PENDING 0 35 - -", "Priority")) == ["node-0 35 pending #1 8"]
    assert agent.ask(60, job("RUNNING 0 35 50 -")) == ["node-0 50 running #1 8 n1"]


def test_a_job_that_no_scheduler_has_looked_at_is_not_told_yet() -> None:
    agent = Agent(Scripted())
    assert agent.ask(1, job("PENDING 0 0 - -")) == []
    assert agent.ask(3, job("PENDING 0 - - -", "JobArrayTaskLimit")) == []
    assert agent.ask(5, job("PENDING 0 0 - -")) == []
    assert agent.ask(65, job("PENDING 0 0 - -")) == ["node-0 0 pending #1 8"]


def test_a_pause_is_told_by_slurms_own_time() -> None:
    agent = Agent(Scripted())
    agent.ask(11, RUNS)
    agent.ask(25, job("SUSPENDED 0 0 10 -", switched=at("22")))
    agent.ask(30, job("RUNNING 0 0 10 -", switched=at("31")))  # it was resumed while squeue was asked
    readings = [(item["at"], item["gpu_busy"]) for each in agent.told for item in each.readings]
    assert [(str(text)[17:19], busy) for text, busy in readings] == [("22", 0), ("31", 100)]


def test_a_node_that_does_not_answer_is_lost_since_it_last_did() -> None:
    slurm = Scripted()
    agent = Agent(slurm)
    agent.ask(11, RUNS)
    agent.ask(20, RUNS)
    slurm.fleet = [NODE._replace(answers=False)]
    assert agent.ask(24, RUNS) == ["node-0 20 lost node_lost #1"]
    assert agent.ask(26, RUNS) == []
    slurm.fleet = [NODE]
    assert agent.ask(30, RUNS) == ["node-0 30 running #1 8 n1"]


def test_a_failed_prolog_is_a_failure_when_the_nodes_reason_says_so() -> None:
    slurm = Scripted(fleet=[NODE._replace(why="Prolog error", ready=False)])
    agent = Agent(slurm)
    agent.ask(11, PROLOG)
    slurm.records = [job("REQUEUED 0 0 10 14")]
    assert "node-0 14 pending failure #2 8" in agent.ask(16, job("PENDING 15 24 - -", "BeginTime", restarts=1))


def test_begun_again_it_says_the_same(tmp_path: Path) -> None:
    """Whatever only the first agent saw: the end of the prolog, a hold, a dead node."""
    slurm, book = Scripted(), Notebook(tmp_path / "seen.json")
    first = Agent(slurm, book)
    first.ask(2, WAITS)
    first.ask(11, PROLOG)
    first.ask(13, RUNS)
    first.ask(20, RUNS)
    second = Agent(slurm, Notebook(tmp_path / "seen.json"))
    second.ask(26, RUNS)
    assert all_of(second.told) == all_of(first.told)
    without = Agent(slurm)
    without.ask(26, RUNS)
    assert all_of(without.told) != all_of(first.told)


def test_begun_again_it_tells_nothing_anew_of_what_was_over(tmp_path: Path) -> None:
    """Neither of what ended long ago, nor otherwise of what ended of late: its start-up, where its pause lay."""
    over = job("COMPLETED 0 0 10 50", suspended=9)
    slurm = Scripted(records=[over])
    first = Agent(slurm, Notebook(tmp_path / "seen.json"))
    first.ask(11, PROLOG)
    first.ask(13, RUNS)
    first.ask(22, job("SUSPENDED 0 0 10 -", switched=at("20")))
    first.ask(31, job("RUNNING 0 0 10 -", switched=at("29")))
    first.ask(52, over)
    second = Agent(slurm, Notebook(tmp_path / "seen.json"))
    second.ask(60, over)
    assert all_of(second.told) == all_of(first.told)
    assert [len(each.readings) for each in second.told] == [2]
    late = Agent(slurm, Notebook(tmp_path / "seen.json"))
    assert late.ask(2000, over) == all_of(first.told)
    book = Notebook(tmp_path / "seen.json")
    book.write(late.source.memory, DAY + 2_000_000, DAY + 2_000_000)
    later = Agent(slurm, book)
    assert later.ask(2010, over) == []


def test_a_notebook_that_is_broken_is_begun_anew(tmp_path: Path) -> None:
    for text in ("{", "[]", '{"version": 1, "attempts": 3}', ""):
        (tmp_path / "seen.json").write_text(text)
        assert Notebook(tmp_path / "seen.json").read() == ({}, 0)


def test_the_whole_list_names_every_living_worker() -> None:
    agent = Agent(Scripted())
    agent.ask(11, job("RUNNING 0 0 10 -", nodes=("n1", "n2"), held=(8000, 4000), asked=12_000))
    whole = agent.source.messages.whole(0)
    assert whole.complete
    assert [(item["worker"], item["phase"]) for item in whole.workers] == [("node-0", "running"), ("node-1", "running")]
    agent.slurm.legible = False
    assert not agent.source.look().complete
    agent.slurm.legible = True
    assert [item["uid"] for item in whole.runs] == ["7-1795910400"]
    agent.ask(60, job("COMPLETED 0 0 10 50", nodes=("n1", "n2"), held=(8000, 4000), asked=12_000))
    assert agent.source.messages.whole(0).workers == ()


def test_accounts_are_workspaces_unless_the_map_says_another() -> None:
    agent = Agent(Scripted())
    agent.ask(11, job("RUNNING 0 0 10 -", account="lab1"))
    agent.ask(13, job("RUNNING 0 0 10 -", account="lab1"), job("RUNNING 0 0 10 -", account="lab2", job=Job("8")))
    assert [str(item["workspace"]) for each in agent.told for item in each.runs] == ["vision", "lab2"]


def test_when_squeue_is_away_nobody_sees_and_it_is_asked_again() -> None:
    slurm = Scripted(deaf={"squeue"})
    agent, stop, told = Agent(slurm), threading.Event(), list[Items]()
    thread = threading.Thread(target=agent.source.run, args=(told.append, stop))
    thread.start()
    waiting = threading.Event()
    for _ in range(3_000):
        if not agent.source.seeing or waiting.wait(0.02):
            break
    assert not agent.source.seeing
    slurm.deaf, slurm.listed = set(), [RUNS]
    for _ in range(3_000):
        if told or waiting.wait(0.02):
            break
    stop.set()
    thread.join(60)
    assert told
    assert agent.source.seeing
