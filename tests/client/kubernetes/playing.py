"""Plays a recording to the real agent through a scripted API server, and what it says to the real ledger."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from astra.collect.batches import batch_of, records
from astra.collect.items import Items
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.agent import Kubernetes, Settings
from astra.collect.kubernetes.mapping import Mapping
from astra.collect.kubernetes.memory import Memory
from astra.collect.kubernetes.raw import ms_of
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Run
from ledger.queries import RunKey, timeline
from tests.client.kubernetes.apiserver import ApiServer, Clock, Fault
from tests.client.kubernetes.recordings import KINDS, Event, Recording
from tests.evidence import Settings as Rules
from tests.postgres_world import make_cluster

SOURCE = "kubernetes/east"


class Agent:
    """The agent on a thread of its own; what it puts is kept."""

    def __init__(self, server: ApiServer, clock: Clock, memory: Path | None = None, **settings: Any) -> None:
        def mapping() -> Mapping:
            return Mapping(pool_labels=("example.com/pool",), memory=Memory(memory))

        self.said: list[Items] = []
        self.stop = threading.Event()
        chosen = Settings(**{"gather_seconds": 0.004, **settings})
        self.source = Kubernetes(SOURCE, Access(server.url), mapping, chosen, clock)
        self.thread = threading.Thread(target=self.source.run, args=(self.said.append, self.stop), daemon=True)
        self.thread.start()

    def end(self) -> None:
        self.stop.set()
        self.thread.join(10)
        assert not self.thread.is_alive()


@contextmanager
def played(recording: Recording, faults: tuple[tuple[int, Fault], ...] = (), **settings: Any) -> Iterator[Agent]:
    """Play a recording to its end; a fault comes before the change of its number."""
    clock = Clock(recording.began)
    with ApiServer(list(recording.lists)) as server:
        for resource, listed in recording.lists.items():
            server.load(resource, listed["raw"]["items"])
        agent = Agent(server, clock, **settings)
        try:
            for resource in KINDS:
                server.wait_for_watch(resource)
            for number, event in enumerate(changes(recording)):
                due = [fault for at, fault in faults if at == number]
                if due:
                    server.faults += due
                    server.wait_until_hit()
                    for fault in due:
                        server.wait_for_watch(fault.resource)
                tell(server, clock, agent.source, event)
            clock.set(recording.ended)
        finally:
            agent.end()
        yield agent


def changes(recording: Recording) -> list[Event]:
    return [event for event in recording.events if event.resource in KINDS and event.type not in ("BOOKMARK", "ERROR")]


def tell(server: ApiServer, clock: Clock, source: Kubernetes, event: Event) -> None:
    """Tell of a change and wait until it was received."""
    clock.set(event.at)
    server.change(event.resource, event.type, event.object)
    (watcher,) = [one for one in source.watchers if one.where == event.resource]
    clock.wait_for(lambda: int(watcher.from_version or 0) >= server.version, event.resource)
    turns = source.turns
    clock.wait_for(lambda: source.turns >= turns + 2, "the mapping")


def ledger_of(said: list[Items], ended: int) -> Cluster:
    """Deliver what was said, each at its instant, and count it."""
    cluster = make_cluster(Rules(), min(ms_of(items.at) for items in said) - 3_600_000)
    for items in said:
        deliver(cluster, items)
    categorize(cluster, now=ended)
    return cluster


def deliver(cluster: Cluster, items: Items, source: str = SOURCE) -> None:
    for record in records(items):
        body = json.dumps(batch_of(source, [record])).encode()
        receipt = ingest(cluster, decode(body, "application/json"), now=ms_of(items.at))
        assert not receipt.refused, receipt.refused


Lane = list[tuple[int, int, str, bool, str, str, int]]


def lanes(cluster: Cluster, ended: int) -> dict[tuple[str, str], Lane]:
    """Return (run uid, worker) → its spans: from, to, category, held, machine, pool, milli-GPUs."""
    found: dict[tuple[str, str], Lane] = {}
    for run in Run.objects.filter(cluster=cluster):
        told = timeline(RunKey(run.pk, run.uid, cluster.pk), 0, ended)
        for worker, segments in told.workers:
            found[run.uid, worker] = [
                (s.since, ended if s.to is None else s.to, s.category.label, s.held, s.machine, s.pool, s.gpus_milli)
                for s in segments
            ]
    return found


def differences(cluster: Cluster, ended: int) -> list[str]:
    """Return where facts, spans and cells do not agree."""
    return list(check(cluster.pk, ended, now=ended))[-1].differences
