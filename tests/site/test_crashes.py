"""kill -9 of each process and of everything, while observations come in: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from astra.api import Api
from goodput_site.embedded import Server
from goodput_site.places import places
from ledger.management import demo
from tests.site.running import Running, eventually, free_port, manage

NAMES = ("web", "worker", "beat", "postgres")
PHASES = ("starting", "running", "stopping", "pending")


@dataclass
class Sender:
    """An agent that tells one new state of one of eight workers in each batch, until it is stopped."""

    url: str
    token: str
    sent: int = 0
    doubled: int = 0
    trouble: list[BaseException] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Sender:
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """After the batch in hand; fails when any batch was refused or could not be delivered."""
        self.done.set()
        self.thread.join()
        assert self.trouble == []

    def run(self) -> None:
        try:
            with Api(self.url, self.token, patience=60) as api:
                for number in itertools.count():
                    if self.done.is_set():
                        return
                    answer = api.post_observations("east", self.batch(number))
                    assert answer.refused == []
                    self.sent, self.doubled = self.sent + 1, self.doubled + answer.duplicate
                    time.sleep(0.02)
        except BaseException as error:
            self.trouble.append(error)

    def batch(self, number: int) -> dict[str, object]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        worker = {"run": "r-1", "worker": f"w-{number % 8}", "at": now, "phase": PHASES[number // 8 % 4], "gpus": 8}
        if worker["phase"] != "pending":
            worker |= {"machine": f"gpu-{number % 8}", "pool": "h100"}
        run = {"workspace": "vision", "uid": "r-1", "name": "llm"}
        return {"source": "test/east", "sent_at": now, "runs": [run], "workers": [worker]}


def token_of(state: Path) -> str:
    """The first tenants, made beside the running installation."""
    for command in (["create_organization", "acme"], ["create_cluster", "acme", "east"]):
        done = manage(state, *command)
        assert done.returncode == 0, done.stderr
    made = manage(state, "create_token", "--organization", "acme", "--scopes", "ingest,read")
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def states_kept(state: Path) -> int:
    with psycopg.connect(Server(places({"GOODPUT_STATE": str(state)})).conninfo()) as link:
        row = link.execute("SELECT count(*) FROM ledger_state").fetchone()
        assert row is not None
        return int(row[0])


def check_ledger(state: Path) -> None:
    done = manage(state, "check_ledger")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": 0 differences in " in done.stdout


def test_each_process_and_then_everything_is_killed_once(folder: Path) -> None:
    state, port = folder / "state", free_port()
    with Running(state, port) as first:
        eventually(first.is_well)
        with Sender(f"http://127.0.0.1:{port}", token_of(state)) as sender:
            for name in NAMES:
                first.kill(name)
                goes_on(sender)
            first.kill_everything()
            with Running(state, port) as again:
                eventually(again.is_well)
                goes_on(sender)
                sender.stop()
                assert states_kept(state) == sender.sent
                check_ledger(state)


def goes_on(sender: Sender) -> None:
    before = sender.sent
    eventually(lambda: sender.sent >= before + 5)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_demo_survives_random_kills(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    state, port = folder / "state", free_port()
    with demo_running(state, port) as one, Sender(one.url, demo.read(state / "demo.json")["ingest_token"]) as sender:
        for _ in range(25):
            time.sleep(chance.uniform(0.2, 5))
            name = chance.choice([*NAMES, "demo"])
            eventually(lambda name=name: one.alive(name), 120)  # type: ignore[misc]
            one.kill(name)
        sender.stop()
        assert sender.sent > 100
        one.kill_everything()
    with demo_running(state, port) as one:
        check_ledger(state)
        counted = one.health()[1]["counted_until"]
        eventually(lambda: one.is_well() and one.health()[1]["counted_until"] > counted, 120)
        check_ledger(state)


@contextmanager
def demo_running(state: Path, port: int) -> Iterator[Running]:
    with Running(state, port, {"DEMO": "1"}) as one:
        eventually(one.is_well, 600)
        yield one
