"""Who is slower than its gang, or behind it, by the last steps of workers that run. Shown, not counted."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

GANG_MIN = 3
SAMPLES = 5
BEHIND_MIN = 2
LASTS_MS = 180_000
_CAUTION = 3, 2  # a gang may step slower than its workers' own times say


class Member(NamedTuple):
    """A worker of a running gang: the last step it told and when, since when it stands there, its step times."""

    worker: int
    step: int
    step_at: int
    progress_at: int
    recent: Sequence[int]


class Found(NamedTuple):
    """A worker that is too slow or behind now: its own step time and its gang's in ms, and how many steps it lacks."""

    worker: int
    at: int
    step_ms: int
    gang_ms: int
    behind: int


class Suspect(NamedTuple):
    """A worker that was found so, without a break, since the sample at `since`."""

    since: int
    confirmed: bool


def stragglers(gang: Iterable[Member], slow_milli: int) -> list[Found]:
    """Return who of a running gang is a straggler at this moment.

    Slow: its median step time over its last five is at least `slow_milli` thousandths of the gang's median. Behind:
    at its last sample most of the others had certainly done two steps more.
    """
    members = [one for one in gang if len(one.recent) >= SAMPLES]
    if len(members) < GANG_MIN:
        return []
    paces = [_middle(one.recent) for one in members]
    ordered = sorted(paces)
    twice = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
    done = _Done(members, paces)
    late = {one.worker for one in done.late(sorted(members, key=lambda one: one.step_at))}
    return [
        Found(one.worker, one.step_at, pace, twice // 2, max(done.least(one.step_at) - one.step, 0))
        for one, pace in zip(members, paces, strict=True)
        if (twice > 0 and pace * 2_000 >= slow_milli * twice) or one.worker in late
    ]


class _Done:
    """How far a gang had come at an instant.

    Workers are sampled at different instants. What one told later is taken back by more steps than it can have made
    since, so that no other is behind for having been looked at earlier.
    """

    def __init__(self, members: Sequence[Member], paces: Sequence[int]) -> None:
        times, by = _CAUTION
        self._told = [
            (one.step, one.progress_at, times, by * max(pace, 1)) for one, pace in zip(members, paces, strict=True)
        ]
        self._known: dict[int, int] = {}

    def least(self, at: int) -> int:
        """Return the step that half of the gang had certainly reached at an instant."""
        if at not in self._known:
            steps = [
                step if since <= at else step + (at - since) * times // by for step, since, times, by in self._told
            ]
            steps.sort()
            self._known[at] = steps[(len(steps) - 1) // 2]
        return self._known[at]

    def late(self, members: Sequence[Member]) -> Iterator[Member]:
        """Find who is two steps behind at its last sample, of some in the order of these.

        What was done never becomes less, so whom the last instant of some lets off needs no look at its own.
        """
        if not members:
            return
        most = self.least(members[-1].step_at)
        left = [one for one in members if most - one.step >= BEHIND_MIN]
        if len(members) == 1:
            yield from left
            return
        half = len(left) // 2
        yield from self.late(left[:half])
        yield from self.late(left[half:])


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def confirmed(suspect: Suspect, at: int) -> bool:
    """Tell whether a worker that is found again at its sample at `at` has been one for long enough to say so."""
    return suspect.confirmed or at - suspect.since >= LASTS_MS


def cost_milli(gang_milli: int, step_ms: int, gang_ms: int) -> int:
    """Return how many of the gang's milli-GPUs wait for a slow worker, if the gang waits for it at each step."""
    return gang_milli * (step_ms - gang_ms) // step_ms if step_ms > gang_ms else 0
