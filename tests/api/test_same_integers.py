"""One question, asked of the queries, JSON, CSV, the command, the page and the metrics, has one answer in integers."""

import csv
import io
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from importlib import import_module
from operator import add
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.db.models import F
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dashboards import numbers
from ledger import queries
from ledger.access import Scope, scope_of_organization, scope_of_workspace
from ledger.core.categories import Category
from ledger.core.totals import Ledger, percent
from ledger.core.windows import DAY, HOUR, Window, floor_day, floor_hour
from ledger.decode.values import iso
from ledger.models import Cluster, DirtyDay, Membership
from ledger.queries import Filters
from tests.api.conftest import Api, one_connection
from tests.api.history import History
from tests.client.conftest import Astra, astra, plain_environment
from tests.client.test_live import figures
from tests.dashboards.reading import cells, read
from tests.metrics.reading import Samples, by, gpu_us, samples
from tests.postgres_world import moment

__all__ = ["astra", "plain_environment"]

BY = ("workspace", "run", "machine", "pool", "user")
LABELS = [category.label for category in Category]
often = hypothesis_settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
very_often = hypothesis_settings(often, max_examples=60)
rarely = hypothesis_settings(often, max_examples=8)
hours = st.integers(1, 22 * 24)
Integers = dict[str, tuple[int, ...]]


@pytest.fixture
def still(history: History) -> History:
    """The history with clocks that stand at the end of the open hour, so that two questions meet the same amounts."""
    Cluster.objects.update(counted_until=F("open_hour") + timedelta(hours=1))
    return history


@pytest.fixture
def command(still: History, astra: Astra, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The command, as a token that reads all of the organization uses it, before the application in this process."""
    transport = httpx.WSGITransport(app=WSGIHandler())
    monkeypatch.setattr(httpx, "Client", partial(httpx.Client, transport=transport, trust_env=False))
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)  # the site's log is not the command's
    monkeypatch.setenv("ASTRALYX_API", "http://testserver")
    monkeypatch.setenv("ASTRALYX_TOKEN", still.reader)

    def told(*options: str) -> str:
        with one_connection():
            done = astra("astraeus", "goodput", "--all", *options)
        assert (done.code, done.err) == (0, "")
        return done.out

    return told


def window_of(history: History, before: int, length: int) -> Window:
    """The window that ends `before` hours before the end of the running hour."""
    end = floor_hour(history.now) + 2 * HOUR - before * HOUR
    return Window(end - length * HOUR, end)


def integers(of: Ledger) -> tuple[int, ...]:
    return (*of.amounts, *of.held, of.unobserved, of.unobserved_productive)


def of_json(row: dict[str, Any]) -> tuple[int, ...]:
    parts = [row["gpu_hours"][label] for label in LABELS] + [row["held_gpu_hours"][label] for label in LABELS]
    return tuple(map(int, [*parts, row["unobserved_gpu_hours"], row["unobserved_productive_gpu_hours"]]))


def of_csv(row: dict[str, str]) -> tuple[int, ...]:
    parts = [row[f"{of}_gpu_hours.{label}".removeprefix("_")] for of in ("", "held") for label in LABELS]
    return tuple(map(int, [*parts, row["unobserved_gpu_hours"], row["unobserved_productive_gpu_hours"]]))


def on_page(of: Ledger) -> list[str]:
    """The figures of a ledger as a page shows them."""
    spent = [of.allocated, of.productive, *of.amounts[1:7], of.waiting, of.lost]
    first, second, *rest = map(numbers.hours, spent)
    return [first, second, percent(of.goodput), *rest]


def member(api: Api) -> Client:
    """The browser of a member of vision."""
    person, _ = User.objects.get_or_create(username="member")
    Membership.objects.get_or_create(user=person, workspace=api.tenants.vision)
    client = Client()
    client.force_login(person)
    return client


def identity(row: Any) -> str:
    """What tells rows apart, also where their names are alike: the uid, or the name with the pool."""
    get: Callable[[str], str] = (
        (lambda key: str(row.get(key, ""))) if isinstance(row, dict) else lambda key: str(getattr(row, key))
    )
    return "|".join((get("name").removeprefix("'"), get("uid"), get("pool")))


def gathered(rows: Any, read: Callable[[Any], tuple[int, ...]]) -> Integers:
    """Rows by identity; two clusters may each have a machine of one name."""
    found: Integers = {}
    for row in rows:
        before = found.get(identity(row), (0,) * 18)
        found[identity(row)] = tuple(a + b for a, b in zip(before, read(row), strict=True))
    return found


def summed(rows: Integers) -> tuple[int, ...]:
    return tuple(map(sum, zip(*rows.values(), strict=True))) if rows else (0,) * 18


@often
@given(before=hours, length=hours, grouping=st.sampled_from(BY), workspace=st.sampled_from(["", "vision", "speech"]))
def test_json_and_csv_have_the_integers_of_the_query(
    api: Api, still: History, before: int, length: int, grouping: str, workspace: str
) -> None:
    window = window_of(still, before, length)
    scope = scope_of_organization(api.tenants.acme)
    answer = queries.goodput(scope, window, grouping, Filters(workspace=workspace), limit=None)
    ask = {"by": grouping, "start": iso(window.start), "end": iso(window.end), "unit": "gpu_us", "workspace": workspace}
    told = api.get("goodput", still.reader, limit=1000, **ask).json()
    table = api.get("goodput", still.reader, limit=1000, format="csv", **ask).content.decode()
    expected = gathered(answer.rows, lambda row: integers(row.ledger))
    assert gathered(told["rows"], of_json) == expected
    assert gathered(csv.DictReader(io.StringIO(table, newline="")), of_csv) == expected
    assert of_json(told["total"]) == integers(answer.total) == summed(expected)


@often
@given(before=hours, length=hours, cut=st.floats(0, 1))
def test_all_groupings_have_one_total_and_adjoining_windows_add_up(
    api: Api, still: History, before: int, length: int, cut: float
) -> None:
    window = window_of(still, before, length)
    scope = scope_of_organization(api.tenants.acme)
    totals = {integers(queries.goodput(scope, window, grouping).total) for grouping in BY}
    assert len(totals) == 1
    middle = window.start + round(cut * length) * HOUR
    parts = [(window.start, middle), (middle, window.end)]
    ledgers = [queries.goodput(scope, Window(*part)).total for part in parts if part[0] < part[1]]
    assert {integers(sum(ledgers, Ledger()))} == totals
    clusters = [
        queries.goodput(Scope(scope.workspaces, cluster), window, "pool").total
        for cluster in (api.tenants.east.pk, still.west.pk)
    ]
    assert {integers(sum(clusters, Ledger()))} == totals


@often
@given(before=hours, length=hours, grouping=st.sampled_from(BY), dirty=st.integers(0, 23), weekly=st.booleans())
def test_roll_ups_answer_as_the_hours_they_were_made_of(
    api: Api, still: History, before: int, length: int, grouping: str, dirty: int, weekly: bool
) -> None:
    """Windows begin and end at any hour; a day whose roll-ups are not as they should be is read by the hour."""
    window, scope = window_of(still, before, length), scope_of_organization(api.tenants.acme)
    ask = queries.weekly if weekly else queries.goodput
    with transaction.atomic():
        for cluster in Cluster.objects.all():
            DirtyDay.objects.get_or_create(cluster=cluster, day=moment(floor_day(still.now) - dirty * DAY))
        told = ask(scope, window, grouping, limit=None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(import_module("ledger.queries.goodput"), "_rollup", lambda asked, of_runs: "hours")
            assert ask(scope, window, grouping, limit=None) == told
        transaction.set_rollback(True)


@very_often
@given(before=hours, length=hours, grouping=st.sampled_from(BY), workspace=st.sampled_from(["", "vision", "speech"]))
def test_the_command_has_the_integers_of_the_query(
    api: Api, still: History, command: Callable[..., str], before: int, length: int, grouping: str, workspace: str
) -> None:
    window = window_of(still, before, length)
    filters = Filters(workspace=workspace)
    answer = queries.goodput(scope_of_organization(api.tenants.acme), window, grouping, filters, limit=None)
    ask = ["--by", grouping, "--start", iso(window.start), "--end", iso(window.end)]
    ask += ["--workspace", workspace] if workspace else []
    told = json.loads(command(*ask, "--json", "--unit", "gpu_us"))
    table = command(*ask, "--csv", "--unit", "gpu_us")
    expected = gathered(answer.rows, lambda row: integers(row.ledger))
    assert gathered(told["rows"], of_json) == expected
    assert of_json(told["total"]) == integers(answer.total)
    assert gathered(csv.DictReader(io.StringIO(table, newline="")), of_csv) == expected
    title, head, *lines = command(*ask).splitlines()
    assert (title, head.split()[0]) == ("GPU-hours", grouping.upper())
    shown = [line.rsplit(None, 10) for line in lines[: len(answer.rows) + 1]]
    assert [(name.split(" (")[0], *row) for name, *row in shown] == [
        *((row.name, *figures(row.ledger)) for row in answer.rows),
        ("TOTAL", *figures(answer.total)),
    ]


@rarely
@given(weeks=st.integers(1, 5), grouping=st.sampled_from(BY))
def test_weeks_are_the_same_in_json_csv_and_the_command(
    api: Api, still: History, command: Callable[..., str], monkeypatch: pytest.MonkeyPatch, weeks: int, grouping: str
) -> None:
    monkeypatch.setattr(queries, "now", lambda: still.now)
    answer = queries.weekly(
        scope_of_organization(api.tenants.acme), Window.last_weeks(still.now, weeks), grouping, limit=None
    )
    ask = {"by": grouping, "weeks": str(weeks), "unit": "gpu_us"}
    table = api.get("goodput/weekly", still.reader, limit=1000, format="csv", **ask).content.decode()
    options = ["--by", grouping, "--weeks", str(weeks), "--unit", "gpu_us"]
    for told in (
        api.get("goodput/weekly", still.reader, limit=1000, **ask).json(),
        json.loads(command(*options, "--json")),
    ):
        assert of_json(told["total"]) == integers(answer.total)
        assert [(of_json(week["total"]), gathered(week["rows"], of_json)) for week in told["weeks"]] == [
            (integers(week.total), gathered(week.rows, lambda row: integers(row.ledger))) for week in answer.weeks
        ]
    assert table == command(*options, "--csv")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    for week in answer.weeks:
        found = gathered((row for row in rows if row["start"] == iso(week.start)), of_csv)
        assert found == gathered(week.rows, lambda row: integers(row.ledger))
        assert summed(found) == integers(week.total)
    totals = [line.split()[1:] for line in command(*options[:4]).splitlines() if line.startswith("TOTAL")]
    assert totals == [figures(of.total) for of in (*answer.weeks, answer)]


@often
@given(before=hours, length=hours, grouping=st.sampled_from(BY))
def test_the_page_shows_the_integers_of_the_query_rounded(
    api: Api, still: History, before: int, length: int, grouping: str
) -> None:
    window = window_of(still, before, length)
    answer = queries.goodput(scope_of_workspace(api.tenants.vision), window, grouping, limit=None)
    ask = {"by": grouping, "start": iso(window.start), "end": iso(window.end), "show": "numbers"}
    page = member(api).get("/w/acme/vision/goodput", ask)
    if not answer.rows:
        assert "rows" not in {element.attributes.get("id") for element in read(page).all()}
        return
    assert [row[1:] for row in cells(page)] == [
        on_page(of) for of in (*(row.ledger for row in answer.rows), answer.total)
    ]


@rarely
@given(before=hours, length=hours, grouping=st.sampled_from(BY))
def test_the_page_has_the_integers_of_the_query(
    api: Api, still: History, before: int, length: int, grouping: str
) -> None:
    window = window_of(still, before, length)
    ask = {"by": grouping, "start": iso(window.start), "end": iso(window.end), "unit": "gpu_us", "format": "json"}
    told = member(api).get("/w/acme/vision/goodput", ask).json()
    answer = queries.goodput(scope_of_workspace(api.tenants.vision), window, grouping, limit=None)
    assert gathered(told["rows"], of_json) == gathered(answer.rows, lambda row: integers(row.ledger))
    assert of_json(told["total"]) == integers(answer.total)


@rarely
@given(before=st.integers(1, 19 * 24))
def test_a_scrape_at_any_hour_has_the_integers_of_the_query(api: Api, still: History, before: int) -> None:
    scope = scope_of_organization(api.tenants.acme)
    end = window_of(still, before, 1).end
    seen = queries.scrape(scope, end - 1)
    for length, name in ((HOUR, "hour"), (DAY, "day")):
        for kind in ("workspace", "machine", "pool"):
            expected: dict[str, Ledger] = {}
            for row in queries.goodput(scope, Window(end - length, end), kind, limit=None).rows:
                expected[row.name] = expected.get(row.name, Ledger()) + row.ledger
            assert by_name(seen.spent[kind, name]) == {
                key: (ledger.amounts, ledger.allocated) for key, ledger in expected.items()
            }
        for cluster in (api.tenants.east, still.west):
            total = queries.goodput(Scope(scope.workspaces, cluster.pk), Window(end - length, end)).total
            spent = by_name(seen.spent["cluster", name]).get(cluster.name, ((0,) * 8, 0))
            assert spent == (total.amounts, total.allocated)


def by_name(of: Any) -> dict[str, tuple[tuple[int, ...], int]]:
    """(amounts, held) by name, of columns of figures."""
    return dict(zip(of.names, zip(zip(*of.amounts, strict=True), of.held, strict=True), strict=True))


@rarely
@given(before=st.integers(1, 19 * 24))
def test_the_metrics_of_any_hour_have_the_integers_of_the_interface(
    api: Api, still: History, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    end = window_of(still, before, 1).end
    monkeypatch.setattr(queries, "now", lambda: end - 1)
    told = samples(api.get("goodput/metrics", api.token("metrics")).content.decode())
    found = {
        (kind, window, name): amounts
        for kind in ("cluster", "workspace", "machine", "pool")
        for window in ("hour", "day")
        for name, amounts in exposed(told, kind, window).items()
    }
    expected: dict[tuple[str, str, str], tuple[int, ...]] = {}
    for window, length in (("hour", HOUR), ("day", DAY)):
        ask = {"start": iso(end - length), "end": iso(end), "unit": "gpu_us", "limit": 1000}
        for kind in ("workspace", "machine", "pool"):
            for row in api.get("goodput", still.reader, by=kind, **ask).json()["rows"]:
                before_it = expected.get((kind, window, row["name"]), (0,) * 8)
                expected[kind, window, row["name"]] = tuple(map(add, before_it, of_json(row)[:8]))
        for name in ("east", "west"):
            total = api.get(f"organizations/acme/clusters/{name}/goodput", still.admin, **ask).json()["total"]
            if any(amounts := of_json(total)[:8]):
                expected["cluster", window, name] = amounts
    assert found == expected


def exposed(told: Samples, kind: str, window: str) -> Integers:
    """What is exposed of one kind in one window, by name, GPU-microseconds by category."""
    of = {"scope": kind, "window": window}
    names = by(told, "astraeus_goodput_gpu_hours", "name", **of)
    return {
        name: tuple(
            gpu_us(by(told, "astraeus_goodput_gpu_hours", "category", name=name, **of)[label]) for label in LABELS
        )
        for name in names
    }


def test_the_metrics_have_the_integers_of_the_interface(
    api: Api, still: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "now", lambda: still.now)
    told = samples(api.get("goodput/metrics", api.token("metrics")).content.decode())
    for kind in ("workspace", "machine", "pool"):
        expected: Integers = {}
        for row in api.get("goodput", still.reader, by=kind, days=1, unit="gpu_us", limit=1000).json()["rows"]:
            more = tuple(int(row["gpu_hours"][label]) for label in LABELS)
            before = expected.get(row["name"], (0,) * 8)
            expected[row["name"]] = tuple(a + b for a, b in zip(before, more, strict=True))
        for name, amounts in expected.items():
            found = by(told, "astraeus_goodput_gpu_hours", "category", scope=kind, name=name, window="day")
            assert tuple(gpu_us(found[label]) for label in LABELS) == amounts
    going = api.get("runs", still.reader, state="going").json()["runs"]
    assert len(going) == 6
    for run in going:
        ledger = api.get(f"runs/{run['uid']}/goodput", still.reader, unit="gpu_us").json()["total"]
        found = by(told, "astraeus_run_goodput_gpu_hours", "category", run=run["name"], namespace=run["workspace"])
        assert {label: gpu_us(found[label]) for label in LABELS} == {k: int(v) for k, v in ledger["gpu_hours"].items()}
        ratio = by(told, "astraeus_run_goodput_ratio", "run", namespace=run["workspace"]).get(run["name"])
        assert (ratio is None) == ("goodput" not in ledger)
        assert ratio is None or ratio == int(ledger["productive_gpu_hours"]) / int(ledger["allocated_gpu_hours"])
