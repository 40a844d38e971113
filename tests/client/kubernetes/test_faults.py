"""Whatever the API server does to lists and watches, the ledger is the same."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import pytest

from astra.collect.kubernetes import watching
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.agent import Kubernetes
from astra.collect.kubernetes.mapping import Mapping
from astra.collect.kubernetes.resources import RESOURCES
from astra.collect.kubernetes.watching import TIMEOUT, Seen, Sight, Watcher, wall
from astra.collect.source import SourceError
from tests.client.kubernetes.apiserver import ApiServer, Fault
from tests.client.kubernetes.playing import SOURCE, Agent, differences, lanes, ledger_of, played
from tests.client.kubernetes.recordings import KINDS, recording
from tests.client.kubernetes.test_recordings import SEEN, off, wanted

POD = next(one for one in RESOURCES if one.kind == "Pod")
TRAINJOBS = "trainjobs.trainer.kubeflow.org"
PYTORCHJOBS = "pytorchjobs.kubeflow.org"


def f(what: str, resource: str = "pods") -> list[Fault]:
    """Read "stream:410 list:500 list:slow" as what goes wrong, one after the other."""
    return [Fault(resource, *step.split(":")) for step in what.split()]


# what goes wrong, before the change of which number
SCRIPTS = {
    "happy_gang4": [(4, f("stream:410")), (9, f("stream:drop")), (15, f("stream:end watch:410 list:slow")),
                    (20, f("stream:garbage", PYTORCHJOBS)), (24, f("stream:end watch:500 watch:500"))],
    "trainjob_v2": [(5, f("stream:410 list:500")), (12, f("stream:drop", TRAINJOBS)), (18, f("stream:410", TRAINJOBS)),
                    (23, f("stream:410 list:410 list:slow", "jobs.batch")), (30, f("stream:end watch:401 list:401"))],
    "node_lost": [(2, f("stream:410", "nodes")), (5, f("stream:end watch:403 list:403")),
                  (9, f("stream:drop", "nodes")), (14, f("stream:410 list:drop watch:drop"))],
    "suspend_resume": [(6, f("stream:410 list:429")), (16, f("stream:410", PYTORCHJOBS)), (22, f("stream:drop"))],
}  # fmt: skip


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that a test can wait for."""
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(watching, "REFUSED_PAUSE", 0.02)
    monkeypatch.setattr(watching, "MISSING_PAUSE", 0.05)


@pytest.mark.django_db
@pytest.mark.parametrize("name", SCRIPTS)
def test_faults_change_nothing(name: str, hasty: None) -> None:
    of = recording(name)
    faults = tuple((number, fault) for number, some in SCRIPTS[name] for fault in some)
    with played(of, faults) as agent:
        cluster = ledger_of(agent.said, of.ended)
    found, right = lanes(cluster, of.ended), wanted(of)
    assert {key: ms for key in right if (ms := off(found[key], right[key])) > SEEN.get(name, 0)} == {}
    assert not differences(cluster, of.ended)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(list(KINDS)) as one:
        yield one


class Watched:
    """A watcher of pods on a thread of its own, and what it saw."""

    def __init__(self, server: ApiServer, namespace: str = "", list_seconds: float = 300.0) -> None:
        self.seen: list[Seen] = []
        self.stop = threading.Event()
        self.client = Access(server.url).client(TIMEOUT)
        self.watcher = Watcher(POD, namespace, self.client, self.seen.append, wall, self.stop, list_seconds)
        self.thread = threading.Thread(target=self.watcher.run)

    def __enter__(self) -> Watched:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.watcher.interrupt()
        self.thread.join(60)
        self.client.close()
        assert not self.thread.is_alive()

    def wait_for(self, sight: Sight) -> None:
        until = time.monotonic() + 60
        while self.watcher.sight is not sight:
            assert time.monotonic() < until, self.watcher.sight
            time.sleep(0.005)


def said(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records if record.name == "astra.collect")


def test_a_missing_right_is_said_once_with_the_line_that_gives_it(
    server: ApiServer, hasty: None, caplog: pytest.LogCaptureFixture
) -> None:
    server.faults = f("list:403 list:403 list:403")
    with caplog.at_level(logging.INFO, "astra.collect"), Watched(server, "vision") as one:
        server.wait_until_hit()
        one.wait_for(Sight.SEEN)
    told = said(caplog)
    assert told.count("refuses to list pods (403") == 1
    assert (
        'Missing in a Role in vision: - {apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"]}' in told
    )
    assert "pods in vision: seen again." in told


def test_wrong_credentials_are_said(server: ApiServer, hasty: None, caplog: pytest.LogCaptureFixture) -> None:
    server.token = "right"
    with caplog.at_level(logging.INFO, "astra.collect"), Watched(server) as one:
        one.wait_for(Sight.REFUSED)
        server.token = ""
        one.wait_for(Sight.SEEN)
    assert "does not accept the credentials (401)" in said(caplog)


def test_rights_taken_away_are_no_empty_cluster(server: ApiServer, hasty: None) -> None:
    of = recording("node_lost")
    for resource, listed in of.lists.items():
        if resource in server.kept:
            server.load(resource, listed["raw"]["items"])
    agent = Agent(server, wall)  # type: ignore[arg-type]
    server.wait_for_watch("pods")
    until = time.monotonic() + 60
    while not any(items.complete for items in agent.said):
        assert time.monotonic() < until
        time.sleep(0.005)
    server.faults = f("stream:end watch:403") + [Fault("pods", "list", "403")] * 20
    server.wait_until_hit()
    live = agent.source._is_whole()
    agent.end()
    assert not live or not server.faults
    whole = [items for items in agent.said if items.complete]
    assert all(len(items.workers) == 2 for items in whole), "no list without them"


def test_a_server_that_is_away_is_not_asked_all_the_time(server: ApiServer) -> None:
    server.faults = [Fault("pods", "list", "500")] * 100
    with Watched(server) as one:
        one.wait_for(Sight.LOST)
        time.sleep(1.0)
    assert 1 <= server.requests["pods", "list"] <= 20, "not hundreds"


def test_empty_streams_are_not_opened_all_the_time(server: ApiServer) -> None:
    server.faults = [Fault("pods", "stream", "end")] * 100
    with Watched(server) as one:
        one.wait_for(Sight.SEEN)
        time.sleep(1.2)
    assert 1 <= server.requests["pods", "watch"] <= 50, "not thousands"
    assert server.requests["pods", "list"] <= 10


def test_a_list_is_asked_for_again_before_long(server: ApiServer) -> None:
    with Watched(server, list_seconds=0.2) as one:
        until = time.monotonic() + 60
        while one.watcher.lists < 3:
            assert time.monotonic() < until
            time.sleep(0.01)
    assert all(seen.type == "LISTED" for seen in one.seen)


def test_a_kind_that_is_installed_later_is_found(server: ApiServer, hasty: None) -> None:
    kept = server.kept.pop("pods")
    with Watched(server) as one:
        one.wait_for(Sight.MISSING)
        server.kept["pods"] = kept
        one.wait_for(Sight.SEEN)


def test_what_is_watched_again_begins_where_it_ended(server: ApiServer, hasty: None) -> None:
    pod = recording("node_lost").lists["pods"]["raw"]["items"][0]
    with Watched(server) as one:
        server.wait_for_watch("pods")
        for _ in range(3):
            server.change("pods", "MODIFIED", pod)
            server.faults = f("stream:drop")
            server.wait_until_hit()
        until = time.monotonic() + 60
        while len(one.seen) < 4:
            assert time.monotonic() < until
            time.sleep(0.005)
    assert [seen.type for seen in one.seen] == ["LISTED", *["MODIFIED"] * 3]
    assert one.watcher.lists == 1


def test_one_look(server: ApiServer) -> None:
    of = recording("first_look")
    for resource, listed in of.lists.items():
        if resource in server.kept:
            server.load(resource, listed["raw"]["items"])
    source = Kubernetes(SOURCE, Access(server.url), lambda: Mapping(pool_labels=("example.com/pool",)))
    items = source.look()
    assert items.complete
    assert {str(run["name"]) for run in items.runs} == {"longrun", "finished", "failed", "stopping", "queued"}
    assert {machine["name"] for machine in items.machines} == {"first-h200-0", "first-a100-0", "first-l4-0"}
    server.faults = [Fault("pods", "list", "403")] * 9
    with pytest.raises(SourceError, match="refuses to list pods"):
        source.look()
    source.client.close()
