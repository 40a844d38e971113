"""One run: its workers, each followed through its pods, and the states that are new of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from astra.collect.items import Item
from astra.collect.kubernetes import rules
from astra.collect.kubernetes.context import CREATES_FOR, Context, Over
from astra.collect.kubernetes.gangs import Gang, Span
from astra.collect.kubernetes.memory import Memo
from astra.collect.kubernetes.nodes import Fleet
from astra.collect.kubernetes.owners import Top
from astra.collect.kubernetes.pods import Pod
from astra.collect.kubernetes.states import Life, Release, State, Stop, cut, states_of
from astra.collect.kubernetes.tracks import Held, Track


class Run:
    """A run's workers by name. `gone`: since when its own object is no more; instants in UTC ms."""

    def __init__(self, top: Top, memos: Mapping[str, Memo]) -> None:
        self.top = top
        self.tracks: dict[str, Track] = {}
        self.place_of: dict[str, str] = {}
        self.gone: int | None = None
        self.parts_gone: set[str] = set()
        self.told: Item | None = None
        self.seen: int | None = None
        self.unbarred = False
        self.pods_left = 0
        self.labels: dict[str, str] = {}
        self.annotations: dict[str, str] = {}
        for name, memo in memos.items():
            asked = memo.asked if memo.asked is not None else memo.created
            self.tracks[name] = Track(top.uid, name, asked, late=memo.asked is not None, past=memo)
            if memo.pod:
                self.place_of[memo.pod] = name

    @property
    def is_counted(self) -> bool:
        """Whether any of its workers was ever said to ask for GPUs."""
        return any(track.last is not None for track in self.tracks.values())

    def see(self, at: int) -> None:
        """Its job was seen, for the first time or again."""
        if self.seen is None:
            self.seen = at

    def adopt(self, part: Run) -> None:
        """Take over what was followed as a run of its own before its owner was seen."""
        for name, track in part.tracks.items():
            track.run = self.top.uid
            self.tracks.setdefault(name, track)
        self.place_of.update(part.place_of)
        self.pods_left += part.pods_left

    def take(self, pod: Pod, place: str | None, hint: int, at: int) -> None:
        """Take a pod as it is now; `place` None: it has the position that it was given, else the next free one."""
        uid = pod.meta.uid
        new = uid not in self.place_of
        name = self.place_of[uid] if not new else place or self._free()
        track = self.tracks.get(name)
        if track is None:
            track = self.tracks[name] = Track(self.top.uid, name, pod.meta.created)
        if uid not in track.known:
            self.pods_left += 1
        self.place_of[uid] = name
        self.labels = {**pod.meta.annotations, **pod.meta.labels} if not self.labels else self.labels
        self.annotations = self.annotations or pod.meta.annotations
        track.take(pod, hint, self._asked(track, pod))
        track.known.setdefault(uid, hint)
        held = track.pods.get(uid)
        if held is not None:
            if pod.is_over and pod.finished is None and held.over_seen is None:
                held.over_seen = at
            if pod.phase == "Unknown" and held.lost_seen is None:
                held.lost_seen = at

    def lose(self, uid: str, at: int) -> None:
        """A pod's object is gone since this instant."""
        track = self.tracks.get(self.place_of.pop(uid, ""))
        if track is None:
            return
        if uid in track.known:
            self.pods_left -= 1
        track.forget(uid)
        held = track.pods.get(uid)
        if held is not None and held.gone is None:
            held.gone = at

    def _free(self) -> str:
        """Return the first position whose pod failed or, where no job counts them, is over; else the next one."""
        counted = self.top.job is not None
        number = 0
        while track := self.tracks.get(f"pod-{number}"):
            held = track.newest
            free = held is None or (held.released is not None and not (counted and held.pod.phase == "Succeeded"))
            if held is None and track.past is not None and track.past.pod:
                free = not (counted and track.past.ended)
            if free:
                break
            number += 1
        return f"pod-{number}"

    def _asked(self, track: Track, pod: Pod) -> int | None:
        """Return since when a new pod is asked for; None when the wait for it was said with the release before it."""
        held = track.newest
        if held is not None or (track.past is not None and track.past.pod):
            over = held.ended if held is not None else (track.past is not None and track.past.ended)
            if not over:
                return None
            asked = self.top.job.asked if self.top.job else pod.meta.created
            return asked if 0 <= pod.meta.created - asked <= CREATES_FOR else pod.meta.created
        if track.late:
            return track.asked
        asked = self.top.job.asked if self.top.job else pod.meta.created
        return asked if pod.meta.created - asked <= CREATES_FOR else pod.meta.created

    def user(self, labels: Iterable[str]) -> str:
        job = self.top.job
        of = {**self.labels, **(job.meta.annotations if job else {}), **(job.meta.labels if job else {})}
        return next((of[label] for label in labels if of.get(label)), "")

    def said(self, annotation: str) -> str:
        """Return what its job, else the first of its pods, says in an annotation, "" for nothing."""
        own = self.top.job.meta.annotations if self.top.job else {}
        return own.get(annotation) or self.annotations.get(annotation, "")

    def live(self) -> list[tuple[str, State]]:
        """Return the workers that ask for GPUs now, each with the state it is in."""
        return [(n, t.last) for n, t in self.tracks.items() if t.is_live and t.last and not t.dropped]

    def memos(self) -> Iterator[Memo]:
        for track in self.tracks.values():
            if track.last is not None and (memo := track.memo()) is not None:
                yield memo

    def count(self, context: Context, fleet: Fleet, now: int) -> list[tuple[str, State]]:
        """Return the states that are new, in order."""
        self._ask(context, now)
        for track in self.tracks.values():
            for held in track.pods.values():
                _settle(track, held, context, fleet)
        gang = self._gang(context, fleet)
        new: list[tuple[str, State]] = []
        for name, track in self.tracks.items():
            states = self._states(track, context, fleet, gang, now)
            new += [(name, state) for state in track.say(states)]
            track.trim()
        return new

    def _ask(self, context: Context, now: int) -> None:
        """Follow every position that the job asks for, also before it has a pod."""
        members = context.members()
        if members is None:
            return
        job = context.job
        if job is not None and job.numbered and context.asks():
            late = self.seen is not None and now > self.seen and bool(self.told)
            for name in members:
                if name not in self.tracks:
                    self.tracks[name] = Track(self.top.uid, name, now if late else job.asked, late=late)
        for name, track in self.tracks.items():
            track.member = members.get(name)

    def _gang(self, context: Context, fleet: Fleet) -> Gang:
        """Whoever ended well without the others shows that there is no barrier."""
        needed = context.needed()
        if needed <= 1 or self.unbarred:
            return Gang(0, ())
        spans = []
        alone = False
        for track in self.tracks.values():
            if track.member is None or not track.member.in_gang:
                continue
            for held in track.pods.values():
                spans += _spans(held, fleet)
                alone = alone or held.pod.phase == "Succeeded"
        gang = Gang(needed, spans)
        known = any(track.ran_from or track.past is not None for track in self.tracks.values())
        if alone and not gang.wholes and not known:
            self.unbarred = True
            return Gang(0, ())
        return gang

    def _states(self, track: Track, context: Context, fleet: Fleet, gang: Gang, now: int) -> list[State]:
        lives = [self._life(track, held, fleet) for held in track.pods.values()]
        states: list[State] = []
        for place, life in enumerate(lives):
            found = states_of(life, gang)
            states += cut(found, lives[place + 1]) if place + 1 < len(lives) else found
        states = [state for state in states if state.milli > 0]
        if len(lives) > 1 and lives[-1].asked is not None and lives[-2].release is None:
            states = [state for state in states if state.phase != rules.PENDING or state.attempt <= lives[-2].base + 1]
        return states + self._without_pod(track, context, fleet, now)

    def _life(self, track: Track, held: Held, fleet: Fleet) -> Life:
        pod = held.pod
        node = fleet.nodes.get(pod.node)
        back = None
        if node is not None and node.ready and node.since is not None and pod.scheduled is not None:
            back = node.since if node.since > pod.scheduled else None
        release = None
        if held.released is not None:
            release = Release(held.released, held.ended, held.reason, held.ended_at)
        stops = tuple(_stops(held, fleet))
        pool = fleet.pool("", pod.selector)
        return Life(pod, held.base, held.asked, held.milli, held.pool, pool, stops, release, back, track.ran_from)

    def _without_pod(self, track: Track, context: Context, fleet: Fleet, now: int) -> list[State]:
        """Return the states of a position that has no pod now: it waits for one, or is asked for no more."""
        if track.pods and not _may_come_back(track, context):
            return []
        milli, pool = _wants(track, fleet)
        if milli <= 0:
            return []
        attempt = track.spent + 1
        over = context.over(track.name)
        if over is not None:
            past = track.past
            if track.last is None and past is not None and past.ended and past.released is not None:
                return [State(past.released, attempt, rules.ENDED, "", milli, "", "")]  # it may not have been sent
            if not track.is_live:
                return []
            at = over.at if over.at is not None else now
            at = max(at, track.last.at if track.last else at)
            return [State(at, attempt, rules.ENDED, over.reason, milli, "", "")]
        if not context.asks() or track.succeeded:
            return []
        if track.past is not None and track.past.pod and not track.pods:
            return self._missed(track, milli, pool, attempt, context, now)
        asked = track.asked
        if (held := track.newest) and context.job:
            asked = max(context.job.asked, held.ended_at or held.released or 0)
        return [State(asked, attempt, rules.PENDING, "", milli, "", pool)]

    def _missed(self, track: Track, milli: int, pool: str, attempt: int, context: Context, now: int) -> list[State]:
        """Its pod went while nobody watched: it waits since it was released, else since its absence was seen."""
        past = track.past
        assert past is not None
        if past.ended and context.job is not None:
            return [State(max(context.job.asked, past.released or 0), attempt, rules.PENDING, "", milli, "", pool)]
        if track.missed is None:
            track.missed = past.released if past.released is not None else now
        return [State(track.missed, attempt, rules.PENDING, past.cause, milli, "", past.pool or pool)]


def _may_come_back(track: Track, context: Context) -> bool:
    """A worker that was over while its job was suspended is asked for again when the job is resumed."""
    held = track.newest
    return (
        held is not None and held.ended and held.pod.phase != "Succeeded" and context.asks() and held.gone is not None
    )


def _wants(track: Track, fleet: Fleet) -> tuple[int, str]:
    if track.member is not None:
        selector = track.member.selector
        return fleet.milli(track.member.demand, "", selector), fleet.pool("", selector)
    held = track.newest
    if held is not None:
        return held.milli, held.pool
    return (track.past.milli, track.past.pool) if track.past is not None else (0, "")


def _settle(track: Track, held: Held, context: Context, fleet: Fleet) -> None:
    """Fix what a pod holds once it is placed, and what becomes of its worker once it holds nothing."""
    pod = held.pod
    if not held.pool and pod.scheduled is not None and pod.node in fleet.nodes:
        held.milli, held.pool = fleet.milli(pod.demand, pod.node, pod.selector), fleet.pool(pod.node)
    elif pod.scheduled is None or not held.milli:
        held.milli = fleet.milli(pod.demand, pod.node, pod.selector)
    if held.cause == "" and held.deleted is not None:
        held.cause = context.why_deleted(pod, track.name)
    released = _released(held)
    if released is None or held.ended:
        return
    if held.released is None:
        held.released = released
        held.reason = _wait_cause(held, next(_all_stops(held, fleet), None) is not None)
    if pod.phase == "Succeeded":
        held.ended, held.reason, track.succeeded = True, rules.COMPLETED, True
    elif (over := context.over(track.name) or _was_suspended(held, context)) is not None:
        _end(held, over)


def _was_suspended(held: Held, context: Context) -> Over | None:
    """A job that was resumed after a pod released its GPUs had been suspended before: it asked for nothing then."""
    resumed = None if context.job is None or context.is_queued else context.job.resumed
    if resumed is None or held.released is None or resumed <= held.released or held.cause not in ("", rules.OWNER):
        return None
    return Over(None, rules.OWNER)


def _end(held: Held, over: Over) -> None:
    held.ended = True
    assert held.released is not None
    if over.at is not None and over.at > held.released:
        held.ended_at = over.at
    else:
        held.reason = over.reason or held.reason


def _wait_cause(held: Held, stopped: bool) -> str:
    """Return the reason of the wait after a pod: "" where what stopped it said it."""
    if held.pod.reason in rules.POD_REASONS:
        return rules.POD_REASONS[held.pod.reason]
    return "" if stopped or not held.pod.is_over else rules.FAILURE


def _released(held: Held) -> int | None:
    pod = held.pod
    if pod.is_over:
        return pod.finished if pod.finished is not None else held.over_seen
    if held.gone is None:
        return None
    return pod.finished if pod.finished is not None else held.gone


def _stops(held: Held, fleet: Fleet) -> Iterator[Stop]:
    """Yield what takes a pod down, in order: the first says why, only a lost node comes after it."""
    phase = ""
    for stop in sorted(_all_stops(held, fleet), key=lambda stop: stop.at):
        if not phase or (phase == rules.STOPPING and stop.phase == rules.LOST):
            yield stop
            phase = stop.phase


def _all_stops(held: Held, fleet: Fleet) -> Iterator[Stop]:
    pod = held.pod
    if pod.scheduled is None:
        return
    lost = _node_lost(held, fleet)
    if lost is not None:
        yield Stop(lost, rules.LOST, rules.NODE_LOST)
    if pod.disruption is not None:
        node = fleet.nodes.get(pod.node)
        away = node is None or node.is_lost or node.tainted
        if found := rules.disruption(pod.disruption.reason, pod.reason, lost=away):
            yield Stop(max(pod.disruption.at, pod.scheduled), *found)
    if held.deleted is not None and _is_stopped(held, held.deleted):
        yield Stop(max(held.deleted, pod.scheduled), rules.STOPPING, held.cause)


def _is_stopped(held: Held, at: int) -> bool:
    """Return whether a deletion found the pod alive: what had ended by itself is only cleared away."""
    return held.released is None or at < held.released or (at == held.released and held.pod.was_killed)


def _node_lost(held: Held, fleet: Fleet) -> int | None:
    """Return since when a pod's node does not answer; what the node did before the pod came is not the pod's."""
    pod = held.pod
    node, found = fleet.nodes.get(pod.node), held.lost_seen
    if node is not None and node.is_lost and node.since is not None:
        found = node.since
    elif node is None and pod.node in fleet.gone:
        found = fleet.gone[pod.node]
    released = held.released
    if found is None or pod.scheduled is None or found < pod.scheduled or (released is not None and found >= released):
        return None
    return found


def _spans(held: Held, fleet: Fleet) -> list[Span]:
    """Return when a pod ran, for its gang; one that ended well counts as there ever after."""
    pod = held.pod
    lost = _node_lost(held, fleet)
    spans = []
    for ran in pod.ran:
        ends = [end for end in (ran.end, lost, held.released) if end is not None]
        over = pod.phase == "Succeeded" and ran == pod.ran[-1]
        spans.append(Span(ran.start, None if over or not ends else min(ends)))
    return spans
