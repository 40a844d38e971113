"""The source that the agent runs: all kinds watched, mapped and said, by the one agent that holds the lease."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from astra.collect.items import Items
from astra.collect.kubernetes import raw
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.leases import Lease, LeaseName
from astra.collect.kubernetes.mapping import Mapping, Said
from astra.collect.kubernetes.podlogs import PodLogs
from astra.collect.kubernetes.resources import RANK, RESOURCES, Resource
from astra.collect.kubernetes.watching import (
    LIST_SECONDS,
    TIMEOUT,
    Missing,
    Refused,
    Seen,
    Sight,
    Watcher,
    once,
    wall,
)
from astra.collect.source import Put, SourceError

log = logging.getLogger("astra.collect")

GATHER_SECONDS = 0.25
FIRST_LISTS_SECONDS = 60.0
WHOLE_SECONDS = 300.0  # a complete list at least so often, and
PROOF_SECONDS = 35.0  # one so long after the first, for what it lacked too
BLIND_SECONDS = 10.0
STOP_SECONDS = 2.0


@dataclass(frozen=True)
class Settings:
    """What is watched: which namespaces (none: all), and by which lease (None: none)."""

    namespaces: tuple[str, ...] = ()
    lease: LeaseName | None = None
    identity: str = ""
    list_seconds: float = LIST_SECONDS
    gather_seconds: float = GATHER_SECONDS
    first_lists_seconds: float = FIRST_LISTS_SECONDS
    resources: tuple[Resource, ...] = RESOURCES


class Kubernetes:
    """A cluster as a source. `clock` gives UTC ms."""

    def __init__(
        self,
        name: str,
        access: Access,
        mapping: Callable[[], Mapping],
        settings: Settings = Settings(),
        clock: Callable[[], int] = wall,
        logs: PodLogs | None = None,
    ) -> None:
        self.name, self.access, self.settings, self.clock, self.logs = name, access, settings, clock, logs
        self.make_mapping = mapping
        self.client = access.client(TIMEOUT)
        self.queue: SimpleQueue[Seen] = SimpleQueue()
        self.stop = threading.Event()
        self.watchers: list[Watcher] = []
        self.lease: Lease | None = None
        self.lists: dict[str, dict[str, list[raw.Raw]]] = {}
        self.begun = False
        self.spoke = False
        self.whole_at = 0.0
        self.proofs = 0
        self.turns = 0

    @property
    def speaks(self) -> bool:
        return self.lease is None or self.lease.is_held

    @property
    def seeing(self) -> bool:
        """Whether pods are watched now, and this agent is the one that speaks."""
        now = time.monotonic()
        pods = [one for one in self.watchers if one.resource.kind == "Pod"]
        lost = any(one.lost_since is not None and now - one.lost_since > BLIND_SECONDS for one in pods)
        return self.begun and self.speaks and not lost

    def look(self) -> Items:
        """Return one full list. Raises SourceError."""
        mapping = self.make_mapping()
        whole = True
        for watcher in self._watchers():
            try:
                listed = once(watcher)
            except Missing:  # noqa: PERF203
                mapping.replace(watcher.resource.kind, (), self.clock())
            except Refused as error:
                if watcher.resource.kind == "Pod":
                    raise SourceError(str(error)) from None
                log.warning("%s", error)
                whole = False
            else:
                for one in listed:
                    mapping.put(watcher.resource.kind, one, self.clock())
                mapping.synced.add(watcher.resource.kind)
        at = self.clock()
        said = mapping.changes(at)
        return items_of(at, said, complete=whole)

    def run(self, put: Put, stop: threading.Event) -> None:
        """List, watch and put until `stop`."""
        self.stop = stop
        mapping = self.make_mapping()
        self.watchers = self._watchers()
        threads = [threading.Thread(target=one.run, name=one.where, daemon=True) for one in self.watchers]
        if self.settings.lease is not None:
            self.lease = Lease(self.access.client(TIMEOUT), self.settings.lease, self.settings.identity)
            self.lease.turn()
            holder = threading.Thread(target=self.lease.run, args=(stop,), name="lease", daemon=True)
            threads.append(holder)
        for thread in threads:
            thread.start()
        if self.logs is not None:
            self.logs.start()
        try:
            self._first_lists(mapping)
            while not stop.is_set():
                self._gather(mapping)
                self._say(mapping, put)
                if self.logs is not None:
                    self.logs.see(mapping.runs.values(), speaks=self.speaks)
                self.turns += 1
            self._drain(mapping, [])
            self._say(mapping, put)
        finally:
            if self.logs is not None:
                self.logs.close()
            if self.lease is not None:
                holder.join(STOP_SECONDS)  # it gives the lease back
                self.lease.client.close()
            until = time.monotonic() + STOP_SECONDS
            for watcher in self.watchers:
                watcher.interrupt()
            for thread in threads:
                thread.join(max(until - time.monotonic(), 0.0))
            self.client.close()
            mapping.memory.close()

    def _watchers(self) -> list[Watcher]:
        return [
            Watcher(one, space, self.client, self.queue.put, self.clock, self.stop, self.settings.list_seconds)
            for one in self.settings.resources
            for space in (self.settings.namespaces if one.in_namespaces else ()) or ("",)
        ]

    def _first_lists(self, mapping: Mapping) -> None:
        """Wait until each kind was listed, or is known not to be there, so that owners are known before their pods."""
        until = time.monotonic() + self.settings.first_lists_seconds
        first: list[Seen] = []
        while not self.stop.is_set():
            waits = {one.where for one in self.watchers if one.sight in (Sight.UNKNOWN, Sight.LOST) and not one.lists}
            pods = any(one.resource.kind == "Pod" and not one.lists for one in self.watchers)
            if not waits or (not pods and time.monotonic() > until):
                break
            first += self._next(0.1)
        self._drain(mapping, first)
        self.begun = not self.stop.is_set()

    def _next(self, seconds: float) -> list[Seen]:
        try:
            return [self.queue.get(timeout=seconds)]
        except Empty:
            return []

    def _gather(self, mapping: Mapping) -> None:
        """Take what is seen within a moment, owners before what they own."""
        first = self._next(self.settings.gather_seconds)
        if first and self.settings.gather_seconds:
            self.stop.wait(self.settings.gather_seconds)
        self._drain(mapping, first)

    def _drain(self, mapping: Mapping, seen: list[Seen]) -> None:
        while True:
            try:
                seen.append(self.queue.get_nowait())
            except Empty:  # noqa: PERF203
                break
        for one in sorted(seen, key=lambda one: RANK[one.kind]):
            self._take(mapping, one)
        for watcher in self.watchers:
            kind = watcher.resource.kind
            if watcher.sight is Sight.MISSING and kind not in mapping.synced:
                mapping.replace(kind, (), self.clock())
            elif watcher.sight is Sight.REFUSED:
                mapping.unread(kind)

    def _take(self, mapping: Mapping, seen: Seen) -> None:
        if seen.type == "LISTED":
            self._take_list(mapping, seen)
        elif seen.type == "DELETED":
            mapping.drop(seen.kind, seen.objects[0], seen.at)
        else:
            mapping.put(seen.kind, seen.objects[0], seen.at)

    def _take_list(self, mapping: Mapping, seen: Seen) -> None:
        """A list of one namespace says nothing of the others."""
        if seen.namespace:
            mapping.replace_in(seen.kind, seen.namespace, seen.objects, seen.at, seen.sight)
            if all(one.lists for one in self.watchers if one.resource.kind == seen.kind):
                mapping.synced.add(seen.kind)
        else:
            mapping.replace(seen.kind, seen.objects, seen.at, seen.sight)

    def _say(self, mapping: Mapping, put: Put) -> None:
        at = self.clock()
        said = mapping.changes(at)
        if not self.speaks:
            self.spoke = False
            return
        if not self.spoke:
            said, self.spoke, self.proofs, self.whole_at = mapping.retold(), True, 0, 0.0
        if any(said):
            put(items_of(at, said))
        now = time.monotonic()
        if self._is_whole() and (not self.whole_at or now - self.whole_at >= self._whole_pause()):
            self.whole_at = now
            self.proofs += 1
            put(items_of(self.clock(), mapping.everything(), complete=True))

    def _whole_pause(self) -> float:
        return PROOF_SECONDS if self.proofs < 2 else WHOLE_SECONDS

    def _is_whole(self) -> bool:
        """Whether all is in sight that says which workers live."""
        return (
            self.begun
            and all(
                one.sight is Sight.SEEN or (one.sight in (Sight.MISSING, Sight.REFUSED) and not one.lists)
                for one in self.watchers
            )
            and all(one.sight is Sight.SEEN for one in self.watchers if one.resource.kind == "Pod")
        )


def items_of(at: int, said: Said, *, complete: bool = False) -> Items:
    return Items(raw.moment(at), said.machines, said.runs, said.workers, complete=complete)
