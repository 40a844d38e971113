"""The jobs of the demo on one endless time line, and where each of their attempts ran.

Time is ms after the begin of the trace. The trace is played again every CYCLE with new run uids, so that the
last weeks of one round overlap with the first of the next and the cluster is never empty.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from ledger.core.windows import DAY, WEEK
from ledger.demo.extract import Job
from ledger.demo.names import POOLS, SHORT, TEAMS, Team

CYCLE = 12 * WEEK
NOW_DAY = 73 * DAY  # 2017-11-16: the day of the trace that is today when the demo is made
HISTORY = 8 * WEEK
FIRST = NOW_DAY - HISTORY
LONGEST = 110 * DAY  # no job lasts longer than the whole trace
SHAPES = {
    4: ((4,), (4,), (4,), (2, 2), (1, 1, 1, 1)),
    8: ((8,), (8,), (4, 4), (2, 2, 2, 2), (4, 4)),
    12: ((4, 4, 4),),
    16: ((8, 8), (8, 8), (4, 4, 4, 4)),
}


class Played(NamedTuple):
    """A job of one round: its team, and its gang as GPUs per worker. `seed` names its own random numbers."""

    job: Job
    uid: str
    name: str
    user: str
    team: Team
    gang: tuple[int, ...]
    submitted: int
    attempts: tuple[tuple[int, int], ...]
    seed: str

    @property
    def end(self) -> int:
        return self.attempts[-1][1]


class Placed(NamedTuple):
    """The pool and the machines, one a worker, of one attempt."""

    pool: str
    machines: tuple[str, ...]


type_place = tuple[str, int]  # uid, number of the attempt from 0


def played(jobs: Sequence[Job], seed: str, until: int) -> list[Played]:
    """Return all jobs submitted after FIRST, whole rounds of them, so many that none before `until` lacks."""
    found = []
    rounds = (until + LONGEST) // CYCLE + 1
    names: dict[str, int] = {}
    for number in range(rounds):
        for job in jobs:
            if job.submitted + number * CYCLE >= FIRST:
                found.append(_play(job, number, seed, names))
    return sorted(found, key=lambda p: (p.submitted, p.uid))


def _play(job: Job, number: int, seed: str, names: dict[str, int]) -> Played:
    own = f"{seed}/{job.id}"
    dice = Random(own)  # noqa: S311  the demo must repeat itself
    team = dice.choices(TEAMS, [team.share for team in TEAMS])[0]
    base = dice.choice(team.runs)
    names[base] = names.get(base, 0) + 1
    offset = number * CYCLE
    return Played(
        job=job,
        uid=f"philly-{job.id}" + (f"-round-{number + 1}" if number else ""),
        name=base if base == SHORT else f"{base}-{names[base]}",
        user=dice.choice(team.users),
        team=team,
        gang=dice.choice(SHAPES.get(job.gpus, ((8,) * (job.gpus // 8),))),
        submitted=job.submitted + offset,
        attempts=tuple((start + offset, end + offset) for start, end in job.attempts),
        seed=f"{own}/{number}",
    )


def machine_names() -> dict[str, tuple[str, int]]:
    """Return each machine's pool and GPUs."""
    return {f"{p.name}-{k:02d}": (p.name, p.gpus) for p in POOLS for k in range(1, p.machines + 1)}


class Fleet:
    """The machines and what is free on each of them at the present instant of the placement."""

    def __init__(self) -> None:
        self.free: dict[str, dict[str, int]] = {pool.name: {} for pool in POOLS}
        for name, (pool, gpus) in machine_names().items():
            self.free[pool][name] = gpus

    def take(self, pool: str, gang: Sequence[int], dice: Random) -> tuple[str, ...] | None:
        """Take a machine a worker, the fullest that has room; None, and nothing taken, when one finds none."""
        free = self.free[pool]
        taken: list[str] = []
        for gpus in gang:
            fitting = [(left, dice.random(), name) for name, left in free.items() if left >= gpus]
            if not fitting:
                self.give(pool, taken, gang)
                return None
            name = min(fitting)[2]
            free[name] -= gpus
            taken.append(name)
        return tuple(taken)

    def give(self, pool: str, machines: Iterable[str], gang: Sequence[int]) -> None:
        for name, gpus in zip(machines, gang, strict=False):
            self.free[pool][name] += gpus


def place(all_played: Iterable[Played]) -> dict[type_place, Placed]:
    """Place every attempt for exactly as long as the trace held it, never more GPUs on a machine than it has."""
    fleet = Fleet()
    placed: dict[type_place, Placed] = {}
    releases: list[tuple[int, str, int, Played]] = []
    for start, uid, number, run in sorted(_starts(all_played)):
        while releases and releases[0][0] <= start:
            _, freed, earlier, whose = heapq.heappop(releases)
            was = placed[freed, earlier]
            fleet.give(was.pool, was.machines, whose.gang)
        placed[uid, number] = _find(fleet, run, number, placed)
        heapq.heappush(releases, (run.attempts[number][1], uid, number, run))
    return placed


def _starts(all_played: Iterable[Played]) -> Iterator[tuple[int, str, int, Played]]:
    return ((start, run.uid, k, run) for run in all_played for k, (start, _) in enumerate(run.attempts))


def _find(fleet: Fleet, run: Played, number: int, placed: dict[type_place, Placed]) -> Placed:
    dice = Random(f"{run.seed}/place/{number}")  # noqa: S311
    before = [placed[run.uid, number - 1].pool] if number else []
    wanted = run.team.pools if dice.random() < 0.8 else dice.sample(run.team.pools, len(run.team.pools))
    for pool in (*before, *wanted):
        machines = fleet.take(pool, run.gang, dice)
        if machines is not None:
            return Placed(pool, machines)
    raise AssertionError("the demo's machines are enough for every hour of the trace")
