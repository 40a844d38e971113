"""The command as a process against a real server with a small real ledger: its figures are those of the queries."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from ledger import queries
from ledger.access import Scope, scope_of_organization
from ledger.core.categories import Category
from ledger.core.totals import Ledger, gpu_hours, percent
from ledger.core.windows import HOUR, Window, floor_hour
from ledger.decode import decode
from ledger.ingest import ingest
from ledger.models import Cluster, Organization, Token, Workspace
from ledger.queries import Filters
from tests.client.conftest import Astra

CLIENT = Path(__file__).parents[2] / "client"
SHOWN = (
    Category.IDLE, Category.STALLED, Category.STARTING, Category.RESTART, Category.FAILURE, Category.PREEMPTION,
)  # fmt: skip


class Acme:
    """An organization with a cluster, told in hours before now."""

    def __init__(self) -> None:
        self.organization = Organization.objects.create(name="acme")
        self.vision = Workspace.objects.create(organization=self.organization, name="vision")
        self.cluster = Cluster.objects.create(organization=self.organization, name="east")
        self.now = datetime.now(UTC)

    def ago(self, hours: float) -> str:
        return (self.now - timedelta(hours=hours)).isoformat()

    def say(self, **batch: Any) -> None:
        body = {"source": "test", "sent_at": self.ago(0), **batch}
        receipt = ingest(self.cluster, decode(json.dumps(body).encode(), "application/json"))
        assert not receipt.refused

    def run(self, uid: str, name: str, workspace: str, user: str, gpus: float, began: float, machine: str) -> None:
        """Tell of a run that waits, is busy, then idle, fails, waits again, is busy, is preempted, and is over."""
        worker = {"run": uid, "worker": "w"}
        placed = {"machine": machine, "pool": f"pool-{machine[:1]}"}
        lives: list[tuple[float, dict[str, Any]]] = [
            (0, {"phase": "pending", "gpus": gpus}),
            (1 / 3, {"phase": "starting", **placed}),
            (0.5, {"phase": "running"}),
            (5.2, {"phase": "failed"}),
            (5.31, {"phase": "pending", "attempt": 2}),
            (5.9, {"phase": "starting", **placed}),
            (6.1, {"phase": "running"}),
            (9, {"phase": "stopping", "reason": "preemption"}),
            (9.07, {"phase": "ended"}),
        ]
        self.say(
            runs=[{"uid": uid, "name": name, "workspace": workspace, "user": user, "submitted_at": self.ago(began)}],
            workers=[{**worker, "at": self.ago(began - after), **state} for after, state in lives],
            readings=[
                {**worker, "at": self.ago(began - after), "gpu_busy": busy}
                for after, busy in [(0.6, 90), (3, 1), (7, 80)]
            ],
        )

    def token(self, *scopes: str, workspace: Workspace | None = None) -> str:
        return Token.issue(self.organization, workspace, list(scopes))[1]

    @property
    def scope(self) -> Scope:
        return scope_of_organization(self.organization)


@pytest.fixture
def acme(transactional_db: None) -> Acme:
    acme = Acme()
    acme.run("8c1f", "llm", "vision", "ana", 8, 200.4, "h-1")
    acme.run("77aa", "sweep", "vision", "ben", 0.142, 100.3, "a-1")
    acme.run("77ab", "sweep", "speech", "ben", 3, 90.7, "h-2")
    return acme


@pytest.fixture
def here(acme: Acme, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Acme:
    """Acme behind a server that the environment names, with a token that reads all of it."""
    monkeypatch.setenv("ASTRALYX_API", live_server.url)
    monkeypatch.setenv("ASTRALYX_TOKEN", acme.token("read"))
    monkeypatch.setenv("PYTHONPATH", str(CLIENT))
    return acme


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its users do."""
    command = [sys.executable, "-m", "astra", "astraeus", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def window(acme: Acme, start: float, end: float) -> tuple[Window, list[str]]:
    """Return whole hours that lie that many days back, and how the command is asked for them."""
    now = floor_hour(round(acme.now.timestamp() * 1000))
    of = Window(now - round(start * 24) * HOUR, now - round(end * 24) * HOUR)
    texts = [datetime.fromtimestamp(at / 1000, UTC).isoformat() for at in (of.start, of.end)]
    return of, ["--start", texts[0], "--end", texts[1]]


def figures(of: Ledger) -> list[str]:
    """Return a ledger's ten figures, as the server rounds them."""
    hours = [gpu_hours(of.allocated, 1), gpu_hours(of.productive, 1)]
    spent = [gpu_hours(of.amounts[category], 1) for category in SHOWN]
    return [*hours, percent(of.goodput, "-").replace(" ", ""), *spent, gpu_hours(of.waiting, 1)]


def table(answer: queries.Answer) -> list[list[str]]:
    return [*([row.name, *figures(row.ledger)] for row in answer.rows), ["TOTAL", *figures(answer.total)]]


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
def test_the_table_is_what_the_queries_say(here: Acme, astra: Astra, by: str) -> None:
    for start, end in ((14, 0), (8.2, 8), (4, 3.7), (40, 30)):
        hours, options = window(here, start, end)
        done = astra("astraeus", "goodput", "--by", by, *options)
        assert (done.code, done.err) == (0, "")
        title, head, *lines = done.out.splitlines()
        answer = queries.goodput(here.scope, hours, by)
        rows = [line.replace(" (77aa)", "").replace(" (77ab)", "").split() for line in lines[: len(answer.rows) + 1]]
        assert (title, head.split()[0], rows) == ("GPU-hours", by.upper(), table(answer))
    assert answer.rows == ()


def test_json_and_csv_carry_the_integers(here: Acme, astra: Astra) -> None:
    hours, options = window(here, 14, 0)
    answer = queries.goodput(here.scope, hours, "run")
    done = astra("astraeus", "goodput", "--by", "run", "--json", "--unit", "gpu_us", *options)
    document = json.loads(done.out)
    exact = [[str(row.ledger.amounts[category]) for category in Category] for row in answer.rows]
    assert [list(row["gpu_hours"].values()) for row in document["rows"]] == exact
    assert document["total"]["allocated_gpu_hours"] == str(answer.total.allocated)
    done = astra("astraeus", "goodput", "--by", "run", "--csv", "--unit", "gpu_us", *options)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [[row[f"gpu_hours.{category.label}"] for category in Category] for row in rows] == exact
    assert [row["allocated_gpu_hours"] for row in rows] == [str(row.ledger.allocated) for row in answer.rows]


def test_the_last_days_are_asked_for_by_number(here: Acme, astra: Astra) -> None:
    done = astra("astraeus", "goodput", "--by", "run", "--days", "400", "--sort", "name", "--all")
    answer = queries.goodput(here.scope, window(here, 14, 0)[0], "run", sort="name")
    assert [line.split()[0] for line in done.out.splitlines()[2:6]] == ["llm", "sweep", "sweep", "TOTAL"]
    assert done.out.splitlines()[5].split()[1:] == figures(answer.total)
    assert "Waits to be placed again stand in their cause's column and in WAITING.\n" in done.out


@pytest.mark.parametrize("kind", ["workspace", "machine", "pool", "user"])
def test_rows_are_picked_by_name(here: Acme, astra: Astra, kind: str) -> None:
    name = {"workspace": "speech", "machine": "h-2", "pool": "pool-h", "user": "ben"}[kind]
    hours, options = window(here, 14, 0)
    done = astra("astraeus", "goodput", "--by", "run", f"--{kind}", name, *options)
    answer = queries.goodput(here.scope, hours, "run", Filters(**{kind: name}))
    assert [line.split()[-1] for line in done.out.splitlines()[2:][: len(answer.rows) + 1]] == [
        row[-1] for row in table(answer)
    ]
    assert 0 < answer.total.asked < queries.goodput(here.scope, hours, "run").total.asked


def test_a_cluster_is_picked_by_name(here: Acme, astra: Astra) -> None:
    Cluster.objects.create(organization=here.organization, name="west")
    hours, options = window(here, 14, 0)
    done = astra("astraeus", "goodput", "--by", "run", "--cluster", "east", *options)
    answer = queries.goodput(here.scope, hours, "run", Filters(cluster="east"))
    assert done.out.splitlines()[2 + len(answer.rows)].split()[1:] == figures(answer.total)
    assert answer.total == queries.goodput(here.scope, hours, "run").total
    done = astra("astraeus", "goodput", "--by", "run", "--cluster", "eest", *options)
    assert done == (1, "", "astra: There is no cluster eest that you may see; the nearest names are east.\n")


def test_a_wrong_name_is_answered_with_the_nearest(here: Acme, astra: Astra) -> None:
    done = astra("astraeus", "goodput", "--machine", "h-11")
    assert (done.code, done.out) == (1, "")
    assert done.err == "astra: There is no machine h-11 that you may see; the nearest names are h-1, h-2, a-1.\n"


def test_tokens_that_do_not_read(here: Acme, astra: Astra) -> None:
    done = astra("astraeus", "goodput", "--token", "goodput_wrong")
    assert (done.code, done.out) == (1, "")
    assert "does not know this token, or it has ended: set ASTRALYX_TOKEN (or --token) to another." in done.err
    done = astra("astraeus", "goodput", "--token", here.token("ingest"))
    assert (done.code, done.err) == (1, "astra: This needs a token with the scope read.\n")
    done = astra("astraeus", "goodput", "--token", here.token("read", workspace=here.vision), "--days", "30")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[2:4]] == ["vision", "TOTAL"]


def test_what_only_the_server_refuses(here: Acme, astra: Astra) -> None:
    done = astra("astraeus", "goodput", "--start", "2020-01-01", "--end", "2026-01-01")
    assert (done.code, done.out) == (1, "")
    assert "400 days" in done.err


def test_weeks(here: Acme, astra: Astra) -> None:
    for by in ("pool", "run"):
        done = astra("astraeus", "goodput", "--weeks", "3", "--by", by)
        assert (done.code, done.err) == (0, "")
        weeks = queries.weekly(here.scope, Window.last_weeks(queries.now(), 3), by)
        _, *parts = done.out.split("\n20")
        assert len(parts) == len(weeks.weeks) + 1, "the last one begins with the window"
        for part, week in zip(parts, weeks.weeks, strict=False):
            rows = [line.split()[-10:] for line in part.splitlines()[2:]]
            assert rows[: len(week.rows) + 1] == [figures(of.ledger) for of in week.rows] + [figures(week.total)]
        assert done.out.count(", still running\n") == 1
        assert figures(weeks.total) in [line.split()[1:] for line in done.out.splitlines() if line.startswith("TOTAL")]


def test_one_run_since_it_was_submitted(here: Acme, astra: Astra) -> None:
    whole = queries.goodput(here.scope, window(here, 30, 0)[0], "run", Filters(run="8c1f"))
    for name in ("llm", "8c1f"):
        done = astra("astraeus", "goodput", "--run", name)
        assert (done.code, done.err) == (0, "")
        assert [line.split() for line in done.out.splitlines()[2:4]] == [
            ["llm", *figures(whole.total)],
            ["TOTAL", *figures(whole.total)],
        ]
    hours, options = window(here, 8.25, 0)
    part = queries.goodput(here.scope, hours, "run", Filters(run="8c1f"))
    done = astra("astraeus", "goodput", "--run", "llm", *options)
    assert done.out.splitlines()[3].split()[1:] == figures(part.total) != figures(whole.total)


def test_the_newest_run_of_a_name_by_machine(here: Acme, astra: Astra) -> None:
    done = astra("astraeus", "goodput", "--run", "sweep", "--by", "machine")
    newest = queries.goodput(here.scope, window(here, 30, 0)[0], "machine", Filters(run="77ab"))
    assert [line.split() for line in done.out.splitlines()[2:][:3]] == table(newest)
    assert {of.name for of in newest.rows} == {"h-2", "unplaced"}


def test_a_wrong_run_is_answered_with_the_nearest(here: Acme, astra: Astra) -> None:
    for more in ([], ["--by", "pool"], ["--workspace", "vision"], ["--json"], ["--csv"]):
        done = astra("astraeus", "goodput", "--run", "swep", *more)
        assert (done.code, done.out) == (1, "")
        assert done.err == "astra: There is no run swep that you may see; the nearest names are sweep.\n"


def test_all_pages(here: Acme, astra: Astra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("astra.questions.ROWS_MAX", 1)
    _, options = window(here, 14, 0)
    done = astra("astraeus", "goodput", "--by", "run", "--all", *options)
    assert sorted(line.split()[0] for line in done.out.splitlines()[2:5]) == ["llm", "sweep", "sweep"]
    done = astra("astraeus", "goodput", "--by", "run", "--all", "--csv", *options)
    assert sorted(row["uid"] for row in csv.DictReader(io.StringIO(done.out))) == ["77aa", "77ab", "8c1f"]
    done = astra("astraeus", "goodput", "--by", "run", "--all", "--json", *options)
    assert sorted(row["uid"] for row in json.loads(done.out)["rows"]) == ["77aa", "77ab", "8c1f"]


def test_as_processes(here: Acme) -> None:
    """The commands of the README, each with another window or grouping."""
    stands = {"run": "9f00", "worker": "worker-3", "at": here.ago(1), "phase": "running", "stalled": True}
    here.say(
        runs=[{"uid": "9f00", "name": "hangs", "workspace": "vision"}],
        workers=[{**stands, "gpus": 2.5, "machine": "h-3", "pool": "pool-h"}],
    )
    by_run = process("goodput", "--by", "run", "--days", "30")
    assert (by_run.returncode, by_run.stderr) == (0, "")
    assert by_run.stdout.startswith("GPU-hours\nRUN ")
    assert {line.split()[0] for line in by_run.stdout.splitlines()[2:7]} == {"llm", "sweep", "hangs", "TOTAL"}
    by_week = process("goodput", "--weeks", "8", "--by", "pool")
    assert (by_week.returncode, by_week.stderr) == (0, "")
    assert by_week.stdout.count("\nPOOL ") == 9
    one = process("goodput", "--run", "llm")
    assert (one.returncode, one.stderr) == (0, "")
    assert one.stdout.splitlines()[2].startswith("llm ")
    stalled = process("workers", "--stalled")
    assert (stalled.returncode, stalled.stderr) == (0, "")
    line = stalled.stdout.splitlines()[2].split()
    assert [*line[:5], line[-2], line[-1]] == ["hangs", "worker-3", "vision", "h-3", "pool-h", "2.5", "-"]
    assert process("goodput", "--token", "goodput_wrong").returncode == 1
    assert process("goodput", "--days", "0").returncode == 2
