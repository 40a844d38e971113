"""The demo's world: the trace's own times to the millisecond, everything else made up but never impossible."""

import json
from collections import defaultdict
from functools import cache

import pytest

from ledger.core.categories import Phase
from ledger.core.windows import DAY, HOUR, WEEK
from ledger.demo import samples
from ledger.demo.extract import jobs
from ledger.demo.incidents import Kind
from ledger.demo.names import SHORT, TEAMS
from ledger.demo.playing import World
from ledger.demo.script import Script
from ledger.demo.world import CYCLE, FIRST, HISTORY, NOW_DAY, machine_names, played
from ledger.replay.philly import instant
from ledger.replay.trace import TraceWorker, amounts_of
from tests.replay.traces import PHILLY

NOW = NOW_DAY + 9 * HOUR
BEGIN_MS = 1_504_483_200_000  # 2017-09-04T00:00Z, from which the packaged file counts its seconds


@cache
def world() -> World:
    return World(NOW)


@cache
def scripts() -> tuple[Script, ...]:
    return tuple(world().script(run) for run in world().runs)


def test_the_packaged_extract_is_the_published_one() -> None:
    told = {}
    for job in json.loads(PHILLY.read_bytes()):
        attempts = [(instant(a["start_time"]), instant(a["end_time"])) for a in job["attempts"]]
        told[job["id"]] = (job["num_gpus"], instant(job["submitted_time"]), attempts)
    packaged = {
        f"application_{job.id}": (
            job.gpus,
            job.submitted + BEGIN_MS,
            [(start + BEGIN_MS, end + BEGIN_MS) for start, end in job.attempts],
        )
        for job in jobs()
    }
    assert packaged == told


def test_eight_weeks_lie_behind_now_and_the_trace_goes_on_after_it() -> None:
    assert HISTORY == 8 * WEEK
    assert min(run.submitted for run in world().runs) >= FIRST
    weeks = {(run.submitted - FIRST) // WEEK for run in world().runs}
    assert weeks >= set(range(8 + 5))


def test_later_rounds_are_the_same_jobs_with_other_uids() -> None:
    runs = played(jobs(), "acme", NOW + 2 * CYCLE)
    assert len({run.uid for run in runs}) == len(runs)
    numbered = [run.name for run in runs if run.name != SHORT]
    assert len(set(numbered)) == len(numbered) < len(runs), "one name is used again and again"
    first = {run.job.id: run for run in runs if "round" not in run.uid}
    later = {run.job.id: run for run in runs if run.uid.endswith("-round-3")}
    assert len(later) == len(jobs())
    for job, run in first.items():
        assert later[job].submitted == run.submitted + 2 * CYCLE
        assert [end - start for start, end in later[job].attempts] == [end - start for start, end in run.attempts]


def test_no_machine_ever_has_more_than_its_gpus() -> None:
    changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for run in world().runs:
        for number, (start, end) in enumerate(run.attempts):
            placed = world().placed[run.uid, number]
            assert len(placed.machines) == len(run.gang)
            for machine, gpus in zip(placed.machines, run.gang, strict=True):
                assert machine_names()[machine][0] == placed.pool
                changes[machine] += [(start, gpus), (end, -gpus)]
    assert len(changes) > 80
    for machine, steps in changes.items():
        taken = 0
        for _, gpus in sorted(steps):  # at one instant what is given back comes first
            taken += gpus
            assert 0 <= taken <= machine_names()[machine][1]


def test_each_run_holds_and_waits_exactly_as_long_as_in_the_trace() -> None:
    for script in scripts():
        run = script.run
        held = sum(end - start for start, end in run.attempts)
        first = run.attempts[0][0] - run.submitted
        between = run.attempts[-1][1] - run.submitted - held - first
        assert sum(run.gang) == run.job.gpus
        for worker, gpus in enumerate(run.gang):
            found = amounts_of(TraceWorker("", samples.states(script, worker)))
            assert found == (held * gpus * 1000, first * gpus * 1000, between * gpus * 1000)


def test_states_are_in_order_and_say_what_they_must() -> None:
    for script in scripts():
        for worker in range(len(script.run.gang)):
            states = samples.states(script, worker)
            assert [s.at for s in states] == sorted(s.at for s in states)
            assert states[0].phase is Phase.PENDING
            assert [s.phase for s in states].count(Phase.ENDED) == 1
            assert states[-1].phase is Phase.ENDED
            attempts = [s.attempt or 0 for s in states]
            assert attempts == sorted(attempts)
            for before, after in zip(states, states[1:], strict=False):
                assert before.phase is not after.phase or before.at == after.at
                assert after.phase is not Phase.STARTING or after.machine in machine_names()


def test_readings_are_in_order_and_only_while_running() -> None:
    for script in scripts()[::7]:
        for worker in range(len(script.run.gang)):
            told = list(samples.samples(script, worker, FIRST, script.run.end, {}))
            assert all(a.at < b.at and b.since <= a.at for a, b in zip(told, told[1:], strict=False) if b.since < b.at)
            assert all(0 <= s.busy_milli_percent <= 100_000 and s.since <= s.at for s in told)
            running = [(leg.runs, leg.stops) for leg in script.legs]
            assert all(any(start <= s.at < stop for start, stop in running) for s in told)


def test_the_world_is_the_same_each_time_and_however_far_it_is_made() -> None:
    again, further = World(NOW), World(NOW + 150 * DAY)
    for run, script in zip(world().runs, scripts(), strict=True):
        assert again.script(run) == script
    begun = {run.uid: run for run in further.begun(NOW)}
    assert len(begun) == len(world().begun(NOW))
    for run in world().begun(NOW):
        assert further.script(begun[run.uid]) == world().script(run)
    for machine, gaps in world().dark.items():
        assert further.dark[machine][: len(gaps)] == gaps


def test_another_seed_is_another_world_of_the_same_times() -> None:
    other = World(NOW, "globex")
    assert {run.uid: run.attempts for run in other.runs} == {run.uid: run.attempts for run in world().runs}
    assert [run.name for run in other.runs] != [run.name for run in world().runs]


def test_every_kind_of_trouble_happens() -> None:
    found = {trouble.kind for troubles in world().troubles.values() for trouble in troubles}
    assert found == set(Kind)
    causes = {leg.wait[1] for script in scripts() for leg in script.legs if leg.wait}
    assert causes == {"", "failure", "node_lost", "gpu_fault", "preemption", "drain", "stalled"}
    assert {script.outcome for script in scripts()} == {"Succeeded", "Killed", "Failed"}
    assert {run.team.workspace for run in world().runs} == {team.workspace for team in TEAMS}


@pytest.mark.parametrize(("kind", "share"), [("stalled", 0.6), ("slow", 0.5)])
def test_there_is_nearly_always_something_to_look_at(kind: str, share: float) -> None:
    instants = range(NOW - 4 * WEEK, NOW + 4 * WEEK, 2 * HOUR)
    seen = 0
    for at in instants:
        legs = [leg for run in world().alive(at, at) for leg in world().script(run).legs if leg.runs <= at < leg.stops]
        stalls = (at - start > 11 * 60_000 and at < end for leg in legs for start, end in leg.stalls)
        slow = (i.start + 4 * 60_000 <= at < i.end for leg in legs for i in leg.slow)
        seen += any(stalls) if kind == "stalled" else any(slow)
    assert seen / len(instants) > share
