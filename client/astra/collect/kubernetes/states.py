"""The states of a pod's life, by the rules: from being asked for to the release of its GPUs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from astra.collect.kubernetes import rules
from astra.collect.kubernetes.gangs import Gang
from astra.collect.kubernetes.pods import Pod, Ran
from astra.collect.kubernetes.rules import ENDED, PENDING, RUNNING, STARTING


class State(NamedTuple):
    """What became true of a worker at an instant (UTC ms); `machine` "" = none, `pool` "" = not known."""

    at: int
    attempt: int
    phase: str
    reason: str
    milli: int
    machine: str
    pool: str

    @property
    def place(self) -> tuple[int, int, int]:
        """The order in which states of a worker are taken."""
        return self.at, self.attempt, rules.ORDER.index(self.phase)


class Stop(NamedTuple):
    """What ends a pod's run before the pod releases its GPUs."""

    at: int
    phase: str
    reason: str


class Release(NamedTuple):
    """The instant from which a pod holds nothing, whether its worker is over then, and why.

    `over`: when it is over though it still waited from the release on.
    """

    at: int
    ended: bool
    reason: str
    over: int | None = None


@dataclass(frozen=True)
class Life:
    """What is known of one pod of a worker: `base` attempts came before it; `asked` None = its wait stands already.

    `ran_from` are instants at which attempts were already said to run; they stay. `back`: since when its node
    answers again.
    """

    pod: Pod
    base: int
    asked: int | None
    milli: int
    pool: str
    asked_pool: str
    stops: tuple[Stop, ...]
    release: Release | None
    back: int | None
    ran_from: dict[int, int]


def states_of(life: Life, gang: Gang) -> list[State]:
    """Return the states that a pod's life has had so far, in their order."""
    found: list[State] = []
    first = life.base + 1
    if life.asked is not None:
        found.append(State(life.asked, first, PENDING, "", life.milli, "", life.asked_pool))
    if life.pod.scheduled is not None:
        found.append(_held(life, life.pod.scheduled, first, STARTING))
        found += _runs(life, gang)
    if life.release is not None:
        found += _release(life, life.release)
    return sorted(found, key=lambda state: state.place)


def _held(life: Life, at: int, attempt: int, phase: str, reason: str = "") -> State:
    return State(at, attempt, phase, reason, life.milli, life.pod.node, life.pool)


def _runs(life: Life, gang: Gang) -> list[State]:
    found: list[State] = []
    until = min((stop.at for stop in life.stops), default=None)
    if life.release is not None:
        until = life.release.at if until is None else min(until, life.release.at)
    for ran in life.pod.ran:
        found += _run(life, ran, gang, until)
    attempt = life.base + life.pod.restarts + 1
    released = None if life.release is None else life.release.at
    for stop in life.stops:
        if released is None or stop.at <= released:
            found.append(_held(life, stop.at, attempt, stop.phase, stop.reason))
    if life.back is not None and _before(life.back, until):
        found += _back(life, life.back, gang, attempt)
    return found


def _run(life: Life, ran: Ran, gang: Gang, until: int | None) -> list[State]:
    """Return the states of one run of the containers, as far as it goes before the pod is stopped or released."""
    if not _before(ran.start, until):
        return []
    found: list[State] = []
    attempt = life.base + ran.number + 1
    whole = life.ran_from.get(attempt)
    if whole is None:
        whole = gang.whole_from(ran.start)
    if ran.number and whole != ran.start:
        found.append(_held(life, ran.start, attempt, STARTING))
    if whole is not None and _before(whole, ran.end) and _before(whole, until):
        found.append(_held(life, whole, attempt, RUNNING))
    if ran.end is not None and _before(ran.end, until):
        after = rules.DONE if ran.well else rules.CRASHED
        if not (ran.well and ran.number < life.pod.restarts):
            found.append(_held(life, ran.end, attempt, after.phase, after.reason))
        else:
            found.append(_held(life, ran.end, attempt, STARTING))
    return found


def _back(life: Life, at: int, gang: Gang, attempt: int) -> list[State]:
    """Its node answers again: the worker is where its containers are."""
    runs = [ran for ran in life.pod.ran if ran.start <= at and (ran.end is None or ran.end > at)]
    if not runs:
        return [] if life.pod.ran else [_held(life, at, attempt, STARTING)]
    whole = life.ran_from.get(attempt, gang.whole_from(runs[-1].start))
    return [_held(life, at, attempt, RUNNING if whole is not None and whole <= at else STARTING)]


def _release(life: Life, release: Release) -> list[State]:
    """A wait carries the number of the attempt that it waits for, and so does the end of it."""
    last = life.base + life.pod.restarts + 1
    if release.ended and release.over is None and life.pod.phase == "Succeeded":
        return [State(release.at, last, ENDED, release.reason, life.milli, "", "")]
    if release.ended and release.over is None:
        return [State(release.at, last + 1, ENDED, release.reason, life.milli, "", "")]
    waits = State(release.at, last + 1, PENDING, release.reason, life.milli, "", life.pool or life.asked_pool)
    if release.over is None:
        return [waits]
    return [waits, State(release.over, last + 1, ENDED, release.reason, life.milli, "", "")]


def _before(at: int, end: int | None) -> bool:
    return end is None or at < end


def cut(earlier: list[State], later: Life) -> list[State]:
    """Return the states of an earlier pod up to where a later one of the same worker is placed."""
    if later.pod.scheduled is None:
        return earlier
    return [state for state in earlier if state.at < (later.pod.scheduled or 0)]
