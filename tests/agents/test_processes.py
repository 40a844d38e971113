"""Agents as processes before a real server, killed and cut off: the ledger is that of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from astra.collect.items import instant_text
from ledger import queries
from ledger.access import scope_of_organization
from ledger.categorizer import categorize
from ledger.checks import check
from ledger.core.totals import Ledger
from ledger.core.windows import HOUR, Window, floor_hour
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Organization, Token, Workspace

ROOT = Path(__file__).parents[2]
PHASES = ("starting", "running", "running", "stopping", "failed", "pending", "running")


def world(began: datetime, seconds: float, seed: int, every: float = 0.25) -> dict[str, list[dict[str, Any]]]:
    """Return what happens from `began` on: each worker lives through some phases, is busy or not, and has ended."""
    rng = random.Random(seed)
    states, readings = list[dict[str, Any]](), list[dict[str, Any]]()
    for number in range(12):
        of = {"run": f"r{number % 3}", "worker": f"w{number}"}
        place = {"machine": f"m{number % 4}", "pool": "p"}
        for at in sorted(rng.uniform(0, seconds) for _ in range(rng.randrange(2, 9))):
            phase = rng.choice(PHASES)
            more = {} if phase == "pending" else place
            moment = instant_text(began + timedelta(seconds=at))
            states.append({**of, **more, "at": moment, "phase": phase, "gpus": rng.choice([1, 2, 0.142])})
        states.append({**of, "at": instant_text(began + timedelta(seconds=seconds)), "phase": "ended"})
        for tick in range(int(seconds / every)):
            moment = instant_text(began + timedelta(seconds=tick * every + number / 100))
            readings.append({**of, "at": moment, "gpu_busy": rng.choice([0, 4.999, 5, 97.5])})
    runs = [{"uid": f"r{k}", "name": f"run-{k}", "workspace": "vision"} for k in range(3)]
    by_time = sorted(states, key=lambda state: str(state["at"]))
    return {"runs": runs, "workers": by_time, "readings": sorted(readings, key=lambda reading: str(reading["at"]))}


class Site:
    """Two organizations with a cluster `east` each: one that the agent tells, one that is told everything at once."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.clusters = [self.made(name) for name in ("acme", "undisturbed")]
        self.token = Token.issue(self.clusters[0].organization, None, ["ingest"])[1]

    def made(self, name: str) -> Cluster:
        organization = Organization.objects.create(name=name)
        Workspace.objects.create(organization=organization, name="vision")
        return Cluster.objects.create(organization=organization, name="east")

    def tell_at_once(self, told: dict[str, Any], began: datetime, ended: datetime) -> None:
        head = {"source": "test/east", "sent_at": instant_text(ended), "seen_from": instant_text(began)}
        receipt = ingest(self.clusters[1], decode(json.dumps(head | told).encode(), "application/json"))
        assert receipt.refused == []

    def ledgers(self, began: datetime) -> list[list[tuple[str, Ledger]]]:
        """Return of each cluster its ledgers by run and by machine, after all was counted and checked."""
        start = floor_hour(int(began.timestamp() * 1000))
        window, found = Window(start, start + 3 * HOUR), []
        for cluster in self.clusters:
            until = categorize(cluster).counted_until
            assert list(check(cluster.pk, until))[-1].differences == []
            scope = scope_of_organization(cluster.organization)
            rows = [row for by in ("run", "machine") for row in queries.goodput(scope, window, by).rows]
            found.append([(row.name, row.ledger) for row in rows])
        return found

    def spent(self, began: datetime) -> list[list[tuple[object, ...]]]:
        """Return the same without how much nobody watched: an agent that is not there does not watch."""
        return [[(name, of.amounts, of.held) for name, of in ledgers] for ledgers in self.ledgers(began)]


@pytest.fixture
def site(transactional_db: None, live_server: LiveServer) -> Site:
    return Site(live_server.url)


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(site: Site, tmp_path: Path) -> Iterator[Start]:
    """Start an agent and wait until it has begun."""
    children: list[subprocess.Popen[str]] = []
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'client'}"

    def one(file: Path, api: str = site.api, spool: Path = tmp_path / "spool") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.agents.talker", file, api, site.token, spool]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        children.append(subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes))
        stdout = children[-1].stdout
        assert stdout is not None
        assert stdout.readline().startswith("ready")
        return children[-1]

    yield one
    for child in children:
        if child.poll() is None:
            child.kill()
        child.communicate()


def end(agent: subprocess.Popen[str]) -> str:
    """End an agent as systemd and Kubernetes do; return its log."""
    began = time.monotonic()
    agent.terminate()
    _, log = agent.communicate(timeout=35)
    assert time.monotonic() - began < 30
    assert agent.returncode == 0, log
    return log


def wait_until_over(agent: subprocess.Popen[str]) -> None:
    """Wait until the agent has told of all there is in its world."""
    assert agent.stdout is not None
    assert agent.stdout.readline() == "over\n"


def killed_often(site: Site, start: Start, tmp_path: Path, seconds: float, seed: int) -> None:
    rng, began = random.Random(seed), datetime.now(UTC) + timedelta(seconds=0.2)
    told, file = world(began, seconds, seed), tmp_path / "world.json"
    file.write_text(json.dumps(told))
    ended = began + timedelta(seconds=seconds)
    kills = 0
    while datetime.now(UTC) < ended or kills < seconds / 2:
        agent = start(file)
        time.sleep(rng.uniform(0.05, 0.7))
        agent.kill()
        agent.communicate()
        kills += 1
    agent = start(file)
    wait_until_over(agent)
    log = end(agent)
    assert "Traceback" not in log
    site.tell_at_once(told, began, datetime.now(UTC))
    disturbed, undisturbed = site.spent(began)
    assert disturbed == undisturbed
    assert len(disturbed) == 3 + 5  # runs; machines and where waits stand


def test_an_agent_that_is_killed_every_few_tenths_of_a_second_loses_and_doubles_nothing(
    site: Site, start: Start, tmp_path: Path
) -> None:
    killed_often(site, start, tmp_path, seconds=7, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 8))
def test_for_longer(site: Site, start: Start, tmp_path: Path, seed: int) -> None:
    killed_often(site, start, tmp_path, seconds=90, seed=seed)


def test_a_server_that_is_away_for_an_hour_leaves_no_gap(
    site: Site, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hour has passed: an agent told of it to nobody, its words with their instants; then another one goes on."""
    from astra.collect.delivery import Delivery
    from astra.collect.items import Items
    from astra.collect.outbox import Outbox
    from astra.collect.spool import Spool

    began = datetime.now(UTC) - timedelta(minutes=70)
    told = world(began, 3600, seed=5, every=120)
    file, folder = tmp_path / "world.json", tmp_path / "spool"
    file.write_text(json.dumps(told))
    outbox = Outbox("test/east", Spool(folder / "test%2Feast"), Delivery("http://127.0.0.1:1", "t", "east"))
    outbox.start()
    for minute in range(62):
        since, until = (instant_text(began + timedelta(minutes=minute + k)) for k in (-1, 0))
        states, readings = (
            tuple(item for item in told[name] if since < str(item["at"]) <= until) for name in ("workers", "readings")
        )
        at = began + timedelta(minutes=minute)
        outbox.put(Items(at, runs=tuple(told["runs"]), workers=states, readings=readings))
    assert not outbox.close(1)
    outbox.spool.close()
    agent = start(file)
    wait_until_over(agent)
    end(agent)
    site.tell_at_once(told, began, datetime.now(UTC))
    disturbed, undisturbed = site.ledgers(began)  # with what nobody watched: the words were kept with their instants
    assert disturbed == undisturbed


def test_a_second_agent_with_the_same_spool_is_refused(site: Site, start: Start, tmp_path: Path) -> None:
    file = tmp_path / "world.json"
    file.write_text(json.dumps(world(datetime.now(UTC), 1, 3)))
    first = start(file)
    second = start(file)
    _, log = second.communicate(timeout=60)
    assert second.returncode == 1
    assert f"Another agent (process {first.pid}) uses the spool" in log
    end(first)


def test_two_agents_of_one_source_count_nothing_twice(site: Site, start: Start, tmp_path: Path) -> None:
    began = datetime.now(UTC)
    told, file = world(began, 3, seed=4), tmp_path / "world.json"
    file.write_text(json.dumps(told))
    agents = [start(file, spool=tmp_path / name) for name in ("a", "b")]
    for agent in agents:
        wait_until_over(agent)
        end(agent)
    site.tell_at_once(told, began, datetime.now(UTC))
    disturbed, undisturbed = site.spent(began)
    assert disturbed == undisturbed


def test_without_a_server_term_ends_it_in_time_and_all_is_kept(site: Site, start: Start, tmp_path: Path) -> None:
    began = datetime.now(UTC)
    told, file = world(began, 2, seed=6), tmp_path / "world.json"
    file.write_text(json.dumps(told))
    agent = start(file, api="http://127.0.0.1:1")
    wait_until_over(agent)
    log = end(agent)
    assert "No answer from http://127.0.0.1:1/v1/" in log
    assert "What could not be sent stays in" in log
    agent = start(file)
    wait_until_over(agent)
    end(agent)
    site.tell_at_once(told, began, datetime.now(UTC))
    disturbed, undisturbed = site.spent(began)
    assert disturbed == undisturbed
