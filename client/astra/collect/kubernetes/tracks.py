"""One worker as the mapping follows it: its pods, what was said of it, what it must remember."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from astra.collect.kubernetes import rules
from astra.collect.kubernetes.jobs import Member
from astra.collect.kubernetes.memory import Memo
from astra.collect.kubernetes.pods import Pod
from astra.collect.kubernetes.states import State

SAID_MAX = 256
RAN_MAX = 16


@dataclass
class Held:
    """A pod of a worker: `base` attempts came before it; the rest is kept once it is known, in ms and thousandths."""

    pod: Pod
    base: int
    asked: int | None
    milli: int = 0
    pool: str = ""
    gone: int | None = None
    over_seen: int | None = None
    lost_seen: int | None = None
    deleted: int | None = None
    cause: str = ""
    released: int | None = None
    ended: bool = False
    ended_at: int | None = None
    reason: str = ""

    def see(self, pod: Pod) -> None:
        """Take the pod as it is now; what it told of earlier runs and of its first deletion is kept."""
        ran = {**{one.number: one for one in self.pod.ran}, **{one.number: one for one in pod.ran}}
        self.pod = replace(pod, ran=tuple(ran[number] for number in sorted(ran)[-RAN_MAX:]))
        if self.deleted is None:
            self.deleted = pod.meta.deleted


@dataclass
class Track:
    """A worker. `past` is its newest pod from before this process; `said` what was sent of it, `last` the latest."""

    run: str
    name: str
    asked: int
    late: bool = False
    member: Member | None = None
    past: Memo | None = None
    pods: dict[str, Held] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    said: dict[State, None] = field(default_factory=dict)
    last: State | None = None
    ran_from: dict[int, int] = field(default_factory=dict)
    missed: int | None = None
    dropped: int | None = None
    succeeded: bool = False

    @property
    def newest(self) -> Held | None:
        return next(reversed(self.pods.values()), None)

    @property
    def spent(self) -> int:
        """How many attempts there were."""
        if held := self.newest:
            return held.base + held.pod.restarts + 1
        return 0 if self.past is None or not self.past.pod else self.past.base + self.past.restarts + 1

    @property
    def is_live(self) -> bool:
        """Whether it asks for GPUs now, by what was said."""
        return self.last is not None and self.last.phase != rules.ENDED

    def take(self, pod: Pod, hint: int, asked: int | None) -> None:
        """Take a pod as it is now; `hint`: so many attempts came before it at least, as its labels say."""
        held = self.pods.get(pod.meta.uid)
        if held is not None:
            held.see(pod)
            return
        if pod.meta.uid in self.known or not self._is_new(pod):
            return
        base = max(self.spent, hint)
        if self.past is not None and self.past.pod == pod.meta.uid:
            base = self.past.base
            held = Held(pod, base, self.past.asked, self.past.milli, self.past.pool, cause=self.past.cause)
            held.ended, held.released = self.past.ended, self.past.released
        else:
            held = Held(pod, base, asked)
        held.see(pod)
        self.pods[pod.meta.uid] = held
        self.known[pod.meta.uid] = base
        self.missed = None

    def _is_new(self, pod: Pod) -> bool:
        """An older pod than the newest was followed before this process began, or is of no more interest."""
        if held := self.newest:
            return pod.meta.created >= held.pod.meta.created
        return self.past is None or self.past.pod == pod.meta.uid or pod.meta.created >= self.past.created

    def say(self, states: list[State]) -> list[State]:
        """Return those that were not said yet, and note that they are."""
        new = [state for state in states if state not in self.said]
        for state in new:
            self.said[state] = None
            if state.phase == rules.RUNNING:
                self.ran_from.setdefault(state.attempt, state.at)
            if self.last is None or state.place >= self.last.place:
                self.last = state
        while len(self.said) > SAID_MAX:
            del self.said[next(iter(self.said))]
        while len(self.ran_from) > SAID_MAX:
            del self.ran_from[next(iter(self.ran_from))]
        return new

    def trim(self) -> None:
        """Let go of pods that a later, placed one took the place of."""
        while len(self.pods) > 1:
            first, second = list(self.pods.values())[:2]
            if second.pod.scheduled is None:
                break
            del self.pods[first.pod.meta.uid]

    def forget(self, uid: str) -> None:
        """The object is gone for good: its uid cannot come again."""
        self.known.pop(uid, None)

    def memo(self) -> Memo | None:
        """Return what must be remembered of it, None for one that never had a pod and was asked for from the start."""
        held = self.newest
        if held is None:
            if self.past is not None:
                return self.past
            return Memo(self.run, self.name, asked=self.asked) if self.late else None
        pod = held.pod
        return Memo(
            self.run, self.name, pod.meta.uid, pod.meta.created, held.base, pod.restarts, held.milli, held.pool,
            held.asked, held.released, held.ended, held.cause,
        )  # fmt: skip
