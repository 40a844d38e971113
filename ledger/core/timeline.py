"""Fold the states of one worker into stretches: from which instant on which folded state holds."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from ledger.core.categories import HELD, OVER, Phase
from ledger.core.facts import FOREVER, Gone, Range, State


class Folded(NamedTuple):
    """All that the states up to an instant say about a worker, last writer first.

    `cause` is that of the present wait, `placed` whether this life was ever placed, `source` the one of the
    latest phase, `stay_since` the begin of the unbroken running of one attempt (None: not running).
    """

    at: int
    phase: Phase = Phase.NONE
    reason: str = ""
    attempt: int = 1
    gpus_milli: int = 0
    machine: int | None = None
    pool: int | None = None
    stalled: bool = False
    placed: bool = False
    cause: str = ""
    source: int = 0
    stay_since: int | None = None

    @property
    def alive(self) -> bool:
        return self.phase not in OVER


NOTHING = Folded(at=-1)


class Stretch(NamedTuple):
    """`folded` holds from `since` to `to`, longer than nothing."""

    since: int
    to: int
    folded: Folded


def take(before: Folded, state: State) -> Folded:
    """Return the folded state after one more state, the last writer winning field by field."""
    after = before._replace(
        at=state.at,
        attempt=before.attempt if state.attempt is None else state.attempt,
        gpus_milli=before.gpus_milli if state.gpus_milli is None else state.gpus_milli,
        machine=before.machine if state.machine is None else state.machine,
        pool=before.pool if state.pool is None else state.pool,
        stalled=before.stalled if state.stalled is None else state.stalled,
    )
    if state.phase is Phase.NONE:
        return after
    return after._replace(
        phase=state.phase,
        reason=state.reason,
        stalled=bool(state.stalled),
        placed=(before.alive and before.placed) or state.phase in HELD,
        cause=_cause(before, state) if state.phase is Phase.PENDING else "",
        source=state.source,
    )


def _cause(before: Folded, state: State) -> str:
    if state.reason:
        return state.reason
    if before.phase is Phase.PENDING:
        return before.cause
    if before.phase in (Phase.FAILED, Phase.LOST):
        return "failure"
    return before.reason if before.phase is Phase.STOPPING else ""


def end(before: Folded, at: int) -> Folded:
    """Return the folded state after the worker was found gone."""
    return before._replace(at=at, phase=Phase.ENDED, reason="", stalled=False, placed=False, cause="")


def deaths(base: Folded, states: Sequence[State], gones: Iterable[Gone]) -> list[int]:
    """Return the instants at which `gones` end the life; `states` are ordered and follow `base`."""
    instants = sorted({base.at, *(s.at for s in states)})
    found = set()
    for gone in gones:
        if any(gone.missing_since < at <= gone.at for at in instants):
            continue
        last = max((at for at in instants if at <= gone.missing_since), default=gone.proof)
        death = max(gone.proof, last)
        if death >= base.at:
            found.add(death)
    return sorted(found)


def fold(base: Folded, states: Sequence[State], gones: Iterable[Gone] = ()) -> tuple[list[Stretch], list[Folded]]:
    """Fold ordered `states`, all later than `base`, and return (stretches, the folded state after each state).

    The first stretch is that of `base`; states passed through in an instant leave none. The folded states
    after the last of each instant can be a base again.
    """
    settled = base
    marks = [base]
    afters: list[Folded] = []
    for at, group, dies in _instants(states, deaths(base, states, gones)):
        after = settled
        for state in group:
            after = take(after, state)
            afters.append(after)
        if group:
            afters[-1] = _with_stay(settled, after, at)
        settled = _with_stay(settled, end(after, at) if dies else after, at)
        marks.append(settled)
    return _stretches(marks), afters


def _instants(states: Sequence[State], ends: list[int]) -> list[tuple[int, list[State], bool]]:
    groups = {at: list(group) for at, group in groupby(states, key=lambda s: s.at)}
    return [(at, groups.get(at, []), at in ends) for at in sorted({*groups, *ends})]


def _with_stay(before: Folded, after: Folded, at: int) -> Folded:
    """A stay goes on over an instant that leaves the same attempt running, whatever it passed through."""
    if after.phase is not Phase.RUNNING or after.gpus_milli == 0:
        return after._replace(stay_since=None)
    goes_on = before.stay_since is not None and before.attempt == after.attempt
    return after._replace(stay_since=before.stay_since if goes_on else at)


def _stretches(marks: list[Folded]) -> list[Stretch]:
    ends = [mark.at for mark in marks[1:]]
    stretches = [Stretch(mark.at, to, mark) for mark, to in zip(marks, [*ends, FOREVER], strict=True)]
    return [s for s in stretches if s.to > s.since]


def stays(stretches: Sequence[Stretch]) -> list[Range]:
    """Return the stays: unbroken running of one attempt on GPUs, each [begin, end)."""
    found: dict[int, int] = {}
    for stretch in stretches:
        if stretch.folded.stay_since is not None:
            found[stretch.folded.stay_since] = stretch.to
    return list(found.items())
