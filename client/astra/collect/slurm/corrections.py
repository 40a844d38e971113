"""What was told and turned out otherwise. A state that is stored stays; the right one is told again, so that it wins.

It comes up when squeue showed a job that had just ended, or the agent's clock is ahead of Slurm's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from astra.collect.slurm.mapping import State

ORDER = ("pending", "starting", "running", "stopping", "failed", "lost", "ended")


def corrections(sent: Iterable[State], told: Sequence[State]) -> Iterator[State]:
    """Yield the states that undo those of `sent` which are not in `told`, where they would count for something."""
    lanes = {worker: sorted(lane, key=_order) for worker, lane in groupby(told, key=lambda state: state.worker)}
    right = set(told)
    for stale in sent:
        if stale in right:
            continue
        lane = lanes.get(stale.worker, [])
        truth = next((state for state in reversed(lane) if state.at <= stale.at), None)
        if truth is None:
            yield stale._replace(phase="ended", reason="", gpus=None, machine="", pool="")
        elif _says_other(stale, truth):
            yield _after(stale, truth)


def _order(state: State) -> tuple[int, int, int]:
    return state.at, state.attempt, ORDER.index(state.phase)


def _says_other(stale: State, truth: State) -> bool:
    """Whether a stale state, taken after the true one, would change what holds."""
    if stale.at == truth.at and _order(stale) < _order(truth):
        return False
    same = (stale.phase, stale.attempt) == (truth.phase, truth.attempt)
    return not same or any(
        told not in (None, "", held)
        for told, held in ((stale.gpus, truth.gpus), (stale.machine, truth.machine), (stale.pool, truth.pool))
    )


def _after(stale: State, truth: State) -> State:
    """Return the true state at the instant of the stale one, or the next ms when it would not win there."""
    again = truth._replace(at=stale.at)
    return again if _order(again) > _order(stale) else again._replace(at=stale.at + 1)
