"""`demo_seed` and `demo_feed` on the real thing: Postgres, and HTTP."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth import authenticate
from django.db.models import F, Sum
from django.test import Client

from ledger import queries
from ledger.access import scope_of_organization, workspaces_of
from ledger.categorizer import categorize
from ledger.core.categories import Category
from ledger.core.postings import LINES
from ledger.core.windows import DAY, HOUR, WEEK, Window, floor_hour
from ledger.demo.names import POOLS, TEAMS
from ledger.management import demo
from ledger.management.commands.demo_feed import Player
from ledger.models import Cluster, LedgerHour, Machine, Organization, Run, State, Token
from ledger.models.access import digest_of
from ledger.replay.wire import instant_text
from tests.replay.commands import say

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path, settings: Any) -> Path:
    """Where the demo is written down."""
    settings.PLACES = settings.PLACES.__class__(tmp_path, settings.PLACES.postgres, settings.PLACES.sockets)
    return settings.PLACES.demo


@pytest.mark.django_db
def test_the_demo_is_seeded_once_and_looks_like_a_cluster(file: Path) -> None:
    lines = say("demo_seed")
    assert lines[-1].startswith("the demo is made: 1,")
    assert any("0 duplicate, 0 late, 0 refused" in line for line in lines)
    values = demo.read(file)
    _is_written_down(file, values)
    _is_plausible()
    _fits_its_machines()
    before = (State.objects.count(), Token.objects.count())
    assert say("demo_seed") == ["the demo is there already"]
    assert (State.objects.count(), Token.objects.count()) == before
    _goes_on_after_it_was_lost(file, values)


def _is_written_down(file: Path, values: dict[str, str]) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert set(demo.SEEDED_KEYS) == values.keys()
    user = authenticate(username=values["user"], password=values["password"])
    assert user is not None
    assert [workspace.name for workspace in workspaces_of(user)] == sorted(team.workspace for team in TEAMS)
    scopes = {
        name: Token.objects.get(digest=digest_of(values[name])).scopes
        for name in ("token", "admin_token", "ingest_token")
    }
    assert scopes == {
        "token": ["read", "metrics"],
        "admin_token": ["read", "metrics", "admin"],
        "ingest_token": ["ingest"],
    }


def _is_plausible() -> None:
    organization = Organization.objects.get(name="acme")
    scope, now = scope_of_organization(organization), queries.now()
    first = queries.first_hour(scope)
    assert first is not None
    assert 8 * WEEK - DAY < now - first < 8 * WEEK + 2 * DAY
    over = Window(first, floor_hour(now))  # while an hour runs, each question sees a little more of it
    answers = {by: queries.goodput(scope, over, by) for by in ("workspace", "pool", "run")}
    total = answers["workspace"].total
    assert all(answer.total == total for answer in answers.values())
    assert total.goodput is not None
    assert 0.75 < total.goodput < 0.9
    assert all(total.amounts[category] > 0.002 * total.asked for category in Category)
    assert 0.001 < total.unobserved / total.asked < 0.02
    teams = [round(row.ledger.goodput or 0, 2) for row in answers["workspace"].rows]
    assert len(teams) == 4
    assert max(teams) - min(teams) > 0.08
    pools = {row.name: row.ledger.goodput for row in answers["pool"].rows}
    assert set(pools) == {pool.name for pool in POOLS}
    assert answers["run"].count > 1_000


def _fits_its_machines() -> None:
    capacity = dict(Machine.objects.exclude(gpus_milli=None).values_list("name", "gpus_milli"))
    assert len(capacity) == sum(pool.machines for pool in POOLS)
    parts = [F(line) for line in LINES[: len(Category)]]
    held = LedgerHour.objects.exclude(machine_id__lte=1).values("hour", "machine__name")
    for row in held.annotate(**{line: Sum(line) for line in LINES[: len(parts)]}):
        amount = sum(row[line] or 0 for line in LINES[: len(parts)])
        assert amount <= capacity[row["machine__name"]] * HOUR


def _goes_on_after_it_was_lost(file: Path, values: dict[str, str]) -> None:
    """demo.json is gone, as when the seeding was broken off: the same world again, and new keys to it."""
    before = set(Run.objects.values_list("uid", "submitted_at"))
    file.write_text(json.dumps({"url": "http://127.0.0.1:1/"}))
    assert say("demo_seed")[-1].startswith("the demo is made: 1,")
    again = demo.read(file)
    assert again["shift_ms"] == values["shift_ms"]
    assert again["url"] == "http://127.0.0.1:1/"
    assert again["password"] != values["password"]
    assert before <= set(Run.objects.values_list("uid", "submitted_at"))  # some were submitted meanwhile


class Receiver:
    """An interface that takes everything and keeps it; `answers` is what it says."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        self.paths: set[str] = set()
        self.answer = 202
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.paths.add(self.path)
                outer.tokens.add(self.headers["authorization"])
                if outer.answer == 202:
                    outer.bodies.append(body)
                text = b'{"accepted": 1, "duplicate": 0, "late": 0, "refused": []}'
                self.send_response(outer.answer)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def seeded(url: str, ago: int = 60_000) -> dict[str, str]:
    """Return a demo.json that was seeded `ago` ms before now."""
    now = time.time_ns() // 1_000_000
    values = dict.fromkeys(demo.SEEDED_KEYS, "x")
    shift = now - now % DAY - 73 * DAY
    return values | {"url": url, "cluster": "east", "shift_ms": str(shift), "seeded_until_ms": str(now - ago)}


def feed_in(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "GOODPUT_STATE": str(folder), "GOODPUT_SUPERVISED": "1"}
    command = [sys.executable, str(CHECKOUT / "manage.py"), "demo_feed", "--every", "0.2"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(true: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_the_feed_plays_on_where_it_was_and_ends_at_once(tmp_path: Path, receiver: Receiver) -> None:
    demo.write(tmp_path / "demo.json", seeded(receiver.url))
    began = demo.read(tmp_path / "demo.json")["seeded_until_ms"]
    for _ in range(2):
        received = len(receiver.bodies)
        process = feed_in(tmp_path)
        wait_for(lambda received=received: len(receiver.bodies) > received + 3)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said
        assert len(said.splitlines()) == 1, said
    assert receiver.paths == {"/v1/clusters/east/observations"}
    assert receiver.tokens == {"Bearer x"}
    ranges = [(body["seen_from"], body["sent_at"]) for body in receiver.bodies if "seen_from" in body]
    assert ranges[0][0] == instant_text(int(began))
    covered = ranges[0][1]
    for since, until in ranges[1:]:
        assert since <= covered, "what happened in between was told"
        covered = max(covered, until)
    assert sum(body.get("complete", False) for body in receiver.bodies) == 2
    assert int(demo.read(demo.feed_path(tmp_path / "demo.json"))["until_ms"]) > int(began)


def test_the_feed_waits_for_an_interface_that_is_not_there(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answer = 503
    demo.write(tmp_path / "demo.json", seeded(receiver.url))
    process = feed_in(tmp_path)
    try:
        wait_for(lambda: receiver.paths)
        assert not demo.feed_path(tmp_path / "demo.json").exists()
        receiver.answer = 202
        wait_for(lambda: demo.feed_path(tmp_path / "demo.json").exists())
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0
        assert process.stdout is not None
        process.stdout.close()


def test_without_a_demo_the_feed_says_what_to_do(tmp_path: Path) -> None:
    process = feed_in(tmp_path)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "demo.json lacks url, user, password" in said
    assert "`make run` makes the demo" in said


class Inside(httpx.BaseTransport):
    """Answers requests in this process, within the test's transaction."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"authorization": request.headers["authorization"]}
        found = Client().post(request.url.path, request.read(), request.headers["content-type"], headers=headers)
        return httpx.Response(found.status_code, content=found.content)


@pytest.mark.django_db
def test_what_the_feed_sends_is_counted() -> None:
    say("create_organization", "acme")
    say("create_cluster", "acme", "east")
    cluster = Cluster.objects.get()
    token = Token.issue(cluster.organization, None, ["ingest"])[1]
    player = Player(seeded("http://localhost/", ago=3 * HOUR) | {"ingest_token": token}, {})
    player.client = httpx.Client(transport=Inside(), headers=player.client.headers)
    for _ in range(3):
        player.play(player.until + HOUR)
    assert player.sent.refused > 0, "runs that began before this cluster was there are unknown to it"
    player.minute()
    player.listed_at = 0
    player.play(player.until + 1)  # the list names all runs
    player.minute()
    player.play(player.until + 2)
    assert player.sent.refused == 0
    assert player.sent.running > 0
    categorize(cluster)
    scope = scope_of_organization(cluster.organization)
    assert queries.goodput(scope, Window.last_days(queries.now(), 1)).total.productive > 0
