"""What the mapping needs to know of a pod: where it stands, what its containers did, and how it is being ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from astra.collect.kubernetes import gpus, raw
from astra.collect.kubernetes.gpus import Demand
from astra.collect.kubernetes.meta import Meta, meta_of
from astra.collect.kubernetes.raw import Raw

OVER = ("Succeeded", "Failed")
KILLED = (137, 143)


class Ran(NamedTuple):
    """A run of a pod's working containers: the how manieth (from 0), from when to when, and whether it ended well."""

    number: int
    start: int
    end: int | None = None
    well: bool = False


class Container(NamedTuple):
    """A container: how often it was restarted, whether it ever ran, and whether it asks for GPUs."""

    name: str
    restarts: int = 0
    began: bool = False
    asks: bool = False


class Disruption(NamedTuple):
    """Who ends a pod before its time, and since when."""

    reason: str
    at: int


@dataclass(frozen=True)
class Pod:
    """A pod; instants in UTC ms.

    `finished`: when the last container ended, once all have; `was_killed`: one of them by a signal that ends it.
    """

    meta: Meta
    demand: Demand
    selector: tuple[tuple[str, str], ...]
    claims: tuple[str, ...]
    node: str
    scheduled: int | None
    phase: str
    reason: str
    disruption: Disruption | None
    restarts: int
    ran: tuple[Ran, ...]
    finished: int | None
    was_killed: bool = False
    containers: tuple[Container, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether its GPUs count as free."""
        return self.phase in OVER


def pod_of(of: Raw, more: frozenset[str] = frozenset()) -> Pod:
    """Raises BadObject."""
    meta = meta_of(of)
    spec, status = raw.mapping(of, "spec"), raw.mapping(of, "status")
    conditions = raw.items(status, "conditions")
    node = raw.text(spec, "nodeName")
    working = _working(spec, raw.items(status, "containerStatuses"), more)
    restarts = sum(raw.count(one, "restartCount") or 0 for one in working)
    return Pod(
        meta,
        gpus.demand_of(spec, more),
        tuple(sorted(raw.texts(spec, "nodeSelector").items())),
        _claims(status),
        node,
        _scheduled(conditions, status, meta) if node else None,
        raw.text(status, "phase"),
        raw.text(status, "reason"),
        _disruption(conditions),
        restarts,
        _ran(working, restarts),
        _finished(spec, status),
        any(raw.count(one, "state", "terminated", "exitCode") in KILLED for one in working),
        tuple(_containers(spec, status, more)),
    )


def _working(spec: Raw, statuses: list[Raw], more: frozenset[str]) -> list[Raw]:
    """Return the statuses of the containers that ask for GPUs, of all when none does: helpers do not decide."""
    asking = {raw.text(one, "name") for one in raw.items(spec, "containers") if gpus.asks(one, more)}
    return [one for one in statuses if raw.text(one, "name") in asking] or statuses


def _containers(spec: Raw, status: Raw, more: frozenset[str]) -> Iterator[Container]:
    statuses = {raw.text(one, "name"): one for one in raw.items(status, "containerStatuses")}
    for one in raw.items(spec, "containers"):
        name = raw.text(one, "name")
        said = statuses.get(name, {})
        began = any(raw.at(said, *path) for path in (("state", "running"), ("state", "terminated"), ("lastState",)))
        yield Container(name, raw.count(said, "restartCount") or 0, began, bool(gpus.asks(one, more)))


def _claims(status: Raw) -> tuple[str, ...]:
    named = (raw.text(one, "resourceClaimName") for one in raw.items(status, "resourceClaimStatuses"))
    return tuple(sorted(filter(None, named)))


def _scheduled(conditions: list[Raw], status: Raw, meta: Meta) -> int:
    for one in conditions:
        if one.get("type") == "PodScheduled" and one.get("status") == "True":
            at = raw.instant(one, "lastTransitionTime")
            if at is not None:
                return at
    return raw.instant(status, "startTime") or meta.created


def _disruption(conditions: list[Raw]) -> Disruption | None:
    for one in conditions:
        if one.get("type") == "DisruptionTarget" and one.get("status") == "True":
            at = raw.instant(one, "lastTransitionTime")
            if at is not None:
                return Disruption(raw.text(one, "reason"), at)
    return None


def _ran(working: list[Raw], restarts: int) -> tuple[Ran, ...]:
    """Return the runs that the statuses still tell of: the last one, and of a single container the one before."""
    if not working:
        return ()
    before: tuple[Ran, ...] = ()
    if len(working) == 1 and (last := _ended(working[0], "lastState")):
        start, end, well = last
        number = restarts if raw.at(working[0], "state", "waiting") is not None else restarts - 1
        before = (Ran(max(number, 0), start, end, well),)
    return before + _current(working, restarts)


def _current(working: list[Raw], restarts: int) -> tuple[Ran, ...]:
    """The pod's run begins when the last of its containers runs and ends when the first ends."""
    starts: list[int] = []
    ends: list[tuple[int, bool]] = []
    for one in working:
        start = raw.instant(one, "state", "running", "startedAt")
        if start is None:
            ended = _ended(one, "state")
            if ended is None:
                return ()
            start = ended[0]
            ends.append(ended[1:])
        starts.append(start)
    bad = [end for end in ends if not end[1]]
    if bad:
        return (Ran(restarts, min(max(starts), min(bad)[0]), *min(bad)),)
    if len(ends) == len(working):
        return (Ran(restarts, max(starts), max(ends)[0], well=True),)
    return (Ran(restarts, max(starts)),)


def _ended(one: Raw, side: str) -> tuple[int, int, bool] | None:
    """Return start, end, and whether it ended well, of a container that terminated."""
    ended = raw.mapping(one, side, "terminated")
    end = raw.instant(ended, "finishedAt")
    if end is None:
        return None
    start = raw.instant(ended, "startedAt")
    return (end if start is None else min(start, end)), end, raw.count(ended, "exitCode") == 0


def _finished(spec: Raw, status: Raw) -> int | None:
    """Return when the last container ended, None unless all have: a container without a status has not."""
    statuses = raw.items(status, "containerStatuses")
    ends = [_ended(one, "state") for one in statuses]
    if not ends or len(ends) < len(raw.items(spec, "containers")):
        return None
    known = [end[1] for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None
