"""Who is slower than its gang, or behind it, by the last steps of workers that run. Shown, not counted."""

from collections.abc import Iterable, Sequence
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
    paces = {one.worker: _middle(one.recent) for one in members}
    ordered = sorted(paces.values())
    twice = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
    found = []
    for one in members:
        behind = _behind(one, members, paces)
        if (twice > 0 and paces[one.worker] * 2_000 >= slow_milli * twice) or behind >= BEHIND_MIN:
            found.append(Found(one.worker, one.step_at, paces[one.worker], twice // 2, max(behind, 0)))
    return found


def _behind(one: Member, members: Sequence[Member], paces: dict[int, int]) -> int:
    """Return by how many steps at least the gang's median was ahead at the last sample of `one`.

    Workers are sampled at different instants. What another told later is taken back by more steps than it can have
    made since, so that no worker is behind for having been looked at earlier.
    """
    steps = sorted(_at_least(other, one.step_at, paces[other.worker]) for other in members)
    return steps[(len(steps) - 1) // 2] - one.step


def _at_least(other: Member, at: int, pace: int) -> int:
    if other.progress_at <= at:
        return other.step
    times, by = _CAUTION
    return other.step - -(-(other.progress_at - at) * times // (by * max(pace, 1)))


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def confirmed(suspect: Suspect, at: int) -> bool:
    """Tell whether a worker that is found again at its sample at `at` has been one for long enough to say so."""
    return suspect.confirmed or at - suspect.since >= LASTS_MS


def cost_milli(gang_milli: int, step_ms: int, gang_ms: int) -> int:
    """Return how many of the gang's milli-GPUs wait for a slow worker, if the gang waits for it at each step."""
    return gang_milli * (step_ms - gang_ms) // step_ms if step_ms > gang_ms else 0
