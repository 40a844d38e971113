"""What each run of the demo does from its submission to its end: legs of running, and how each of them ends."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from ledger.core.categories import Phase
from ledger.demo.incidents import MINUTE, Incident, Kind
from ledger.demo.world import Placed, Played

type_range = tuple[int, int]
CAUSE_NAMES = ("failure", "node_lost", "gpu_fault", "preemption", "drain", "stalled")
CAUSES = {  # of the end of an attempt that is not the last, in percent
    "language": (40, 18, 12, 14, 10, 6),
    "vision": (42, 10, 6, 28, 8, 6),
    "speech": (36, 8, 6, 36, 8, 6),
    "research": (42, 4, 4, 42, 4, 4),
}
OUTCOMES = ("Succeeded", "Killed", "Failed")
OUTCOME_WEIGHTS = (60, 22, 18)
ENDS = {  # what an attempt's end looks like, and how long it still holds its machines, minutes
    "failure": (Phase.FAILED, 2, 20),
    "gpu_fault": (Phase.FAILED, 4, 35),
    "node_lost": (Phase.LOST, 6, 30),
    "preemption": (Phase.STOPPING, 4, 28),
    "drain": (Phase.STOPPING, 4, 28),
    "stalled": (Phase.STOPPING, 1, 4),
    "completed": (Phase.STOPPING, 0.1, 1),
    "owner": (Phase.STOPPING, 0.1, 0.7),
}
END_REASONS = {"Succeeded": "completed", "Killed": "owner", "Failed": "failure"}
STEP_SECONDS = (0.4, 0.6, 1.1, 1.7, 2.6, 4.2, 6.8, 11.0)
MOST_OF_IT = 6  # a start or a hold takes at most a sixth of what there is
FORGOTTEN_FROM = 6 * 60 * MINUTE
STARTS = (1.5, 16.0)  # minutes; a later start also reads a checkpoint
RESTARTS = (2.0, 13.0)


class Leg(NamedTuple):
    """One numbered attempt of the gang: `begin` starting, `runs` … `stops` running, held as `last` until `over`.

    `wait` is since when it waited to be placed, and why; None: it stayed where it was. `stalls` are ranges without
    a step. `broken` is a worker whose machine was lost, and since when. `steps` were done before. Instants are ms.
    """

    number: int
    wait: tuple[int, str] | None
    begin: int
    runs: int
    stops: int
    over: int
    last: Phase
    reason: str
    machines: tuple[str, ...]
    pool: str
    stalls: tuple[type_range, ...]
    idle: tuple[type_range, ...]
    slow: tuple[Incident, ...]
    broken: tuple[int, int] | None
    steps: int


class Script(NamedTuple):
    """A run, its legs in order, and its outcome."""

    run: Played
    legs: tuple[Leg, ...]
    outcome: str
    step_ms: int


class _Draft(NamedTuple):
    """A leg before its idle stretches and steps are known."""

    begin: int
    stops: int
    over: int
    last: Phase
    reason: str
    stalls: tuple[type_range, ...] = ()
    broken: tuple[int, int] | None = None


def write(run: Played, placed: Sequence[Placed], troubles: Sequence[Sequence[Incident]]) -> Script:
    """Write a run's script; `placed` and `troubles` are those of its attempts, in order."""
    dice = Random(f"{run.seed}/script")  # noqa: S311
    outcome = dice.choices(OUTCOMES, OUTCOME_WEIGHTS)[0]
    step_ms = round(dice.choice(STEP_SECONDS) * 1000)
    legs: list[Leg] = []
    waits_from, cause = run.submitted, ""
    for number, (start, end) in enumerate(run.attempts):
        is_last = number == len(run.attempts) - 1
        cause_of_end = dice.choices(CAUSE_NAMES, CAUSES[run.team.workspace])[0]
        why = END_REASONS[outcome] if is_last else cause_of_end
        for k, draft in enumerate(_drafts(dice, start, end, why, troubles[number])):
            leg = _leg(dice, run, draft, placed[number], legs[-1] if legs else None, step_ms)
            slow = tuple(i for i in troubles[number] if i.kind is Kind.SLOW)
            legs.append(leg._replace(wait=None if k else (waits_from, cause), slow=slow))
        waits_from, cause = end, why
    return Script(run, tuple(_forgotten(dice, run, legs)), outcome, step_ms)


def _drafts(dice: Random, start: int, end: int, why: str, troubles: Sequence[Incident]) -> list[_Draft]:
    """Cut an attempt at what restarts it, and let its end hold on for as long as its cause does."""
    drafts: list[_Draft] = []
    stalls: list[type_range] = []
    begin = start
    for trouble in sorted(troubles, key=lambda i: i.start):
        if trouble.kind is Kind.FREEZE:
            stalls.append((trouble.start, trouble.end))
        elif trouble.kind is not Kind.SLOW:
            drafts.append(_broken_off(begin, trouble, tuple(stalls)))
            begin, stalls = trouble.end, []
    last, shortest, longest = ENDS[why]
    stops = end - min(_minutes(dice, shortest, longest), (end - begin) // MOST_OF_IT)
    if why == "stalled" and stops - begin > 90 * MINUTE:
        stalls.append((stops - _minutes(dice, 15, 45), stops))
    broken = (0, stops) if why == "node_lost" else None
    drafts.append(_Draft(begin, stops, end, last, why, tuple(stalls), broken))
    return drafts


def _broken_off(begin: int, trouble: Incident, stalls: tuple[type_range, ...]) -> _Draft:
    start, end = trouble.start, trouble.end
    if trouble.kind is Kind.CRASH:
        return _Draft(begin, start, end, Phase.FAILED, "failure", stalls)
    if trouble.kind is Kind.EVICT:
        return _Draft(begin, start, end, Phase.STOPPING, "preemption", stalls)
    if trouble.kind is Kind.LOST:
        stalls, broken = (*stalls, (start, end)), (trouble.worker, start)
        return _Draft(begin, end, end, Phase.STOPPING, "stalled", stalls, broken)
    stops = end - MINUTE
    return _Draft(begin, stops, end, Phase.STOPPING, "stalled", (*stalls, (start, stops)))


def _leg(dice: Random, run: Played, draft: _Draft, placed: Placed, before: Leg | None, step_ms: int) -> Leg:
    taken = _minutes(dice, *(RESTARTS if before else STARTS))
    runs = draft.begin + min(taken, (draft.stops - draft.begin) // MOST_OF_IT)
    return Leg(
        number=before.number + 1 if before else 1,
        wait=None,
        begin=draft.begin,
        runs=runs,
        stops=draft.stops,
        over=draft.over,
        last=draft.last,
        reason=draft.reason,
        machines=placed.machines,
        pool=placed.pool,
        stalls=draft.stalls,
        idle=_without(_idle(dice, run, runs, draft.stops), draft.stalls),
        slow=(),
        broken=draft.broken,
        steps=_checkpoint(before, step_ms) if before else 0,
    )


def _idle(dice: Random, run: Played, runs: int, stops: int) -> list[type_range]:
    """Draw idle stretches: while data loads at the begin, and now and then."""
    found = [(runs, min(stops, runs + _minutes(dice, 0.5, 7)))] if dice.random() < 0.6 else []
    at = found[-1][1] if found else runs
    while True:
        at += 3 * MINUTE + round(dice.expovariate(1 / (run.team.busy_minutes * MINUTE)))
        end = at + 2 * MINUTE + round(dice.expovariate(1 / (run.team.idle_minutes * MINUTE)))
        if end >= stops - 3 * MINUTE:
            return found
        found.append((at, end))
        at = end


def _forgotten(dice: Random, run: Played, legs: list[Leg]) -> list[Leg]:
    """Leave the end of some long runs idle: their work is done and their owner has not looked."""
    leg = legs[-1]
    length = leg.stops - leg.runs
    if dice.random() >= run.team.forgets or length < FORGOTTEN_FROM:
        return legs
    since = leg.stops - round(length * dice.uniform(0.2, 0.45))
    idle = (*(r for r in leg.idle if r[1] < since - MINUTE), (since, leg.stops))
    stalls = tuple(s for s in leg.stalls if s[1] < since - MINUTE)
    return [*legs[:-1], leg._replace(idle=idle, stalls=stalls)]


def _without(ranges: Sequence[type_range], holes: Sequence[type_range]) -> tuple[type_range, ...]:
    """Return the ranges that touch no hole: a hung collective keeps its GPUs at 100 %."""
    return tuple(r for r in ranges if all(r[1] < hole[0] or hole[1] < r[0] for hole in holes))


def steps_at(leg: Leg, at: int, step_ms: int) -> int:
    """Return the step that the gang has reached at `at`: one every `step_ms` but while it is stalled."""
    stuck = sum(max(0, min(at, end) - start) for start, end in leg.stalls)
    return leg.steps + max(0, min(at, leg.stops) - leg.runs - stuck) // step_ms


def _checkpoint(leg: Leg, step_ms: int) -> int:
    """Return the last step that was saved, one every half hour or so."""
    every = max(1, 30 * MINUTE // step_ms)
    return steps_at(leg, leg.stops, step_ms) // every * every


def _minutes(dice: Random, low: float, high: float) -> int:
    return round(dice.uniform(low, high) * MINUTE)
