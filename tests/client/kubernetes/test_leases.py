"""One agent speaks: who holds the Lease. The next takes over when it is given back or not renewed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from astra.collect.kubernetes import agent as agents
from astra.collect.kubernetes import leases
from astra.collect.kubernetes.access import Access
from astra.collect.kubernetes.leases import LEASE_SECONDS, Lease, LeaseName
from astra.collect.kubernetes.watching import TIMEOUT, wall
from tests.client.kubernetes.apiserver import ApiServer, refuse
from tests.client.kubernetes.playing import Agent
from tests.client.kubernetes.recordings import KINDS, recording

NAME = LeaseName("goodput", "astra-collect-east")


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(list(KINDS)) as one:
        yield one


class Held:
    """Two agents' views of one lease, by a clock that is moved by hand."""

    def __init__(self, server: ApiServer) -> None:
        self.now = 100.0
        self.leases = [Lease(Access(server.url).client(TIMEOUT), NAME, name, lambda: self.now) for name in ("a", "b")]

    def turn(self, seconds: float = 0.0, *which: int) -> list[bool]:
        self.now += seconds
        for number in which or (0, 1):
            self.leases[number].turn()
        return [lease.is_held for lease in self.leases]

    def close(self) -> None:
        for lease in self.leases:
            lease.client.close()


@pytest.fixture
def held(server: ApiServer) -> Iterator[Held]:
    both = Held(server)
    yield both
    both.close()


def test_the_first_holds_it_and_keeps_it(held: Held) -> None:
    assert held.turn() == [True, False]
    for _ in range(10):
        assert held.turn(5.0) == [True, False]


def test_the_next_takes_what_is_not_renewed_and_who_lost_it_is_silent(held: Held) -> None:
    held.turn()
    assert held.turn(LEASE_SECONDS - 1, 1) == [True, False]
    assert held.turn(1.5, 1) == [False, True]
    assert held.turn(1.0) == [False, True]


def test_a_lease_that_is_given_back_is_taken_at_once(held: Held) -> None:
    held.turn()
    held.leases[0].release()
    assert held.turn(1.0, 1) == [False, True]


def test_who_cannot_renew_goes_silent(held: Held, server: ApiServer) -> None:
    held.turn()
    server.token = "another"
    assert held.turn(LEASE_SECONDS - 1.0, 0) == [True, False]
    assert held.turn(2.0, 0) == [False, False]


def test_without_the_right_to_a_lease_it_speaks(held: Held, server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "answer", lambda to: refuse(to, 403, "no"))
    assert held.turn() == [True, True]
    assert 'resources: ["leases"]' in held.leases[0].said


def test_a_second_agent_stands_by_and_takes_over(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(agents, "PROOF_SECONDS", 0.05)
    of = recording("node_lost")
    for resource, listed in of.lists.items():
        if resource in server.kept:
            server.load(resource, listed["raw"]["items"])
    first, second = (Agent(server, wall, lease=NAME, identity=name) for name in "ab")  # type: ignore[arg-type]
    try:
        wait_for(lambda: bool(first.said or second.said))
        one, other = (first, second) if first.said else (second, first)
        time.sleep(0.3)
        wait_for(lambda: one.source.seeing)
        assert not other.source.seeing
        assert other.said == []
        one.end()
        wait_for(lambda: any(items.complete for items in other.said))
        assert states(other) == states(one)
    finally:
        first.end()
        second.end()


def states(of: Agent) -> set[tuple[str, ...]]:
    return {tuple(map(str, sorted(state.items()))) for items in of.said for state in items.workers}


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        threading.Event().wait(0.005)
