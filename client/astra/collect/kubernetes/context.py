"""What a run's job says of its workers: whom it asks for, when it is over, and why a pod of it is taken down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from astra.collect.kubernetes import raw, rules
from astra.collect.kubernetes.jobs import Job, Member
from astra.collect.kubernetes.meta import Meta, meta_of
from astra.collect.kubernetes.owners import Top
from astra.collect.kubernetes.pods import Pod
from astra.collect.kubernetes.raw import Raw

SOON = 60_000  # a job's end explains the deletion of its pods for so long before it
CREATES_FOR = 120_000  # pods created so soon after a job began to ask are those that it asked for


class Over(NamedTuple):
    """Since when a worker is asked for no more (None: since its pod released its GPUs), and why."""

    at: int | None
    reason: str


@dataclass(frozen=True)
class Queue:
    """A Kueue Workload: while it is active and not finished its job waits in a queue, whoever suspended it."""

    meta: Meta
    active: bool
    evicted: str
    evicted_at: int | None

    @property
    def cause(self) -> str:
        return rules.EVICTIONS.get(self.evicted, rules.DRAIN) if self.evicted_at is not None else ""


def queue_of(of: Raw) -> Queue:
    """Raises BadObject."""
    conditions = {raw.text(one, "type"): one for one in raw.items(of, "status", "conditions")}
    evicted = conditions.get("Evicted", {})
    holds = raw.text(evicted, "status") == "True"
    finished = raw.text(conditions.get("Finished", {}), "status") == "True"
    active = raw.at(of, "spec", "active") is not False and not finished
    return Queue(
        meta_of(of),
        active,
        raw.text(evicted, "reason") if holds else "",
        raw.instant(evicted, "lastTransitionTime") if holds else None,
    )


@dataclass
class Context:
    """A run at an instant: its top owner, its parts, its queue; `gone`: since when its own object is no more.

    `is_read`: objects of the top's kind are listed, so one that is not there was deleted.
    """

    top: Top
    parts: tuple[Job, ...] = ()
    queue: Queue | None = None
    gone: int | None = None
    is_read: bool = False
    parts_gone: frozenset[str] = field(default_factory=frozenset)

    @property
    def job(self) -> Job | None:
        return self.top.job

    def members(self) -> Mapping[str, Member] | None:
        """Return the positions asked for; None when nobody says them."""
        if self.job is None:
            return None
        for kind in ("JobSet", "Job"):
            inner = [part for part in self.parts if part.kind == kind and part.members is not None]
            if inner:
                return {name: member for part in inner for name, member in (part.members or {}).items()}
        return self.job.members

    def needed(self) -> int:
        """Return how many must run at once before any counts as running; 0 or 1: there is no barrier."""
        members, job = self.members(), self.job
        if members is None or job is None or not job.gang:
            return 0
        in_gang = sum(1 for member in members.values() if member.in_gang)
        return in_gang if job.least is None else min(job.least, in_gang)

    @property
    def is_queued(self) -> bool:
        return self.queue is not None and self.queue.active and self.queue.cause != rules.OWNER

    @property
    def is_deleted(self) -> bool:
        """Whether its job is gone or going."""
        if self.job is None:
            return self.is_read
        return self.gone is not None or self.job.meta.deleted is not None

    def asks(self) -> bool:
        """Return whether the job wants its members to run, or waits in a queue to."""
        job = self.job
        if job is None or job.end is not None or self.is_deleted:
            return False
        return job.suspended is None or self.is_queued

    def over(self, worker: str) -> Over | None:
        """Return why and since when a worker is asked for no more; None while it is."""
        job = self.job
        if job is None:
            return Over(None, rules.OWNER if self.is_read else "")
        if job.end is not None:
            return Over(job.end.at, job.end.reason)
        if self.is_deleted:
            return Over(job.meta.deleted if job.meta.deleted is not None else self.gone, rules.OWNER)
        if job.suspended is not None and not self.is_queued:
            return Over(job.suspended, rules.OWNER)
        members = self.members()
        if members is not None and job.numbered and worker not in members:
            return Over(None, rules.SCALE_DOWN)
        return None

    def why_deleted(self, pod: Pod, worker: str) -> str:
        """Return why a pod is being deleted, "" while nothing says it."""
        at = pod.meta.deleted or 0
        if pod.reason in rules.POD_REASONS:
            return rules.POD_REASONS[pod.reason]
        if self.queue and self.queue.evicted_at is not None and self.queue.evicted_at <= at + 1000:
            return self.queue.cause
        if self.is_deleted:
            return rules.DELETIONS["deleted"][0]
        job = self.job
        if job is None:
            return ""
        if job.end is not None and job.end.at <= at + SOON:
            return job.end.reason
        if job.suspended is not None:
            return rules.DELETIONS["suspended"][0]
        members = self.members()
        if members is not None and job.numbered and worker not in members:
            return rules.DELETIONS["smaller"][0]
        return self._failing(pod)

    def _failing(self, pod: Pod) -> str:
        assert self.job is not None
        if self.job.stopping:
            return self.job.stopping
        owner = pod.meta.owner.uid if pod.meta.owner else ""
        part = next((part for part in self.parts if part.meta.uid == owner), None)
        if part is None:
            return rules.DELETIONS["failing"][0] if owner in self.parts_gone else ""
        if part.stopping:
            return part.stopping
        if part.end is not None:
            return part.end.reason
        return rules.DELETIONS["failing"][0] if part.meta.deleted is not None else ""
