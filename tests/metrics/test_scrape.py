"""What a scrape shows, whose it is, and in which forms."""

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from ledger import metrics, queries, sql
from ledger.access import scope_of_organization
from ledger.batches import Batch
from ledger.core.categories import Category, Phase
from ledger.core.windows import DAY, HOUR, Window, floor_day, floor_hour
from ledger.ingest import ingest
from ledger.metrics import NAMES_MAX
from ledger.models import Cluster, DayRun, Machine, Run, RunTotal, Workspace
from ledger.rollups import roll_up
from tests.api.conftest import Api
from tests.api.history import History, tell
from tests.api.test_observations import problem
from tests.dashboards.world import run, state
from tests.metrics.conftest import Scraper
from tests.metrics.reading import by, gpu_us, key, samples

LABELS = [category.label for category in Category]
RATIO, HOURS = "astraeus_goodput_ratio", "astraeus_goodput_gpu_hours"
RUN_RATIO, RUN_HOURS = "astraeus_run_goodput_ratio", "astraeus_run_goodput_gpu_hours"
STALLED, DROPPED = "astraeus_workers_stalled", "astraeus_goodput_dropped_names"
STRAGGLING = "astraeus_runs_with_straggler"
OPENMETRICS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5"
)
QUERIES = 7  # the token, its workspaces, the clock, four for the samples


def test_names_and_labels_are_those_of_the_contract(scraped: Scraper) -> None:
    found: dict[str, set[frozenset[str]]] = {}
    for name, labels in scraped.samples():
        found.setdefault(name, set()).add(frozenset(dict(labels)))
    assert found == {
        RATIO: {frozenset({"scope", "name", "window"})},
        HOURS: {frozenset({"scope", "name", "window", "category"})},
        RUN_HOURS: {frozenset({"namespace", "run", "category"})},
        RUN_RATIO: {frozenset({"namespace", "run"})},
        STALLED: {frozenset({"namespace"})},
        STRAGGLING: {frozenset({"namespace"})},
        DROPPED: {frozenset({"scope"})},
    }


def test_every_name_has_all_categories_and_a_ratio_where_something_was_held(scraped: Scraper) -> None:
    told = scraped.samples()
    for scope, names in {
        "cluster": {"east", "west"},
        "workspace": {"vision", "speech"},
        "machine": {"gpu-1", "gpu-2", "gpu-4", "unplaced"},
        "pool": {"h100", "a100", "none"},
    }.items():
        assert set(by(told, HOURS, "name", scope=scope, window="day")) == names
        assert set(by(told, HOURS, "name", scope=scope, window="hour")) == names
        for name in names:
            assert list(by(told, HOURS, "category", scope=scope, name=name, window="day")) == LABELS
        assert set(by(told, RATIO, "name", scope=scope, window="day")) == names - {"unplaced", "none"}
    assert 0 < by(told, RATIO, "name", scope="workspace", window="day")["speech"] <= 1


def test_hours_add_up_alike_over_every_scope(scraped: Scraper) -> None:
    told = scraped.samples()
    for window in ("hour", "day"):
        totals = {
            scope: sum(
                gpu_us(hours)
                for name in by(told, HOURS, "name", scope=scope, window=window)
                for hours in by(told, HOURS, "category", scope=scope, window=window, name=name).values()
            )
            for scope in ("cluster", "workspace", "machine", "pool")
        }
        assert len(set(totals.values())) == 1
        assert totals["pool"] > 0


def test_runs_that_go_on_since_they_were_submitted_and_no_others(scraped: Scraper, history: History) -> None:
    told = scraped.samples()
    assert set(by(told, RUN_HOURS, "run", namespace="vision")) == {"llm", "queued", "w-llm", "w-queued", "w-choir"}
    assert set(by(told, RUN_HOURS, "run", namespace="speech")) == {"choir"}
    assert set(by(told, RUN_RATIO, "run", namespace="vision")) == {"llm", "w-llm", "w-choir"}
    assert by(told, RUN_HOURS, "category", run="llm")["productive"] == pytest.approx(16 * (14 * 24 - 6), rel=1e-9)
    assert not [name for name, labels in told if any("sweep" in value for _, value in labels)]


def test_workers_that_are_stalled(scraped: Scraper) -> None:
    assert by(scraped.samples(), STALLED, "namespace") == {"vision": 2, "speech": 0}


def test_a_token_sees_what_it_would_in_the_interface(scraped: Scraper) -> None:
    speech = scraped.samples(scraped.api.token("metrics", workspace=scraped.tenants.speech))
    assert set(by(speech, HOURS, "name", scope="workspace")) == {"speech"}
    assert set(by(speech, HOURS, "name", scope="machine")) == {"gpu-4"}
    assert set(by(speech, HOURS, "name", scope="cluster")) == {"east"}
    assert set(by(speech, RUN_HOURS, "run")) == {"choir"}
    assert by(speech, STALLED, "namespace") == {"speech": 0}
    foreign = scraped.samples(scraped.api.token("metrics", of=scraped.tenants.globex))
    assert set(by(foreign, RUN_HOURS, "run")) == {"f-llm", "f-queued", "f-choir"}
    own = scraped.text().content.decode()
    assert "f-llm" not in own


def test_nothing_was_ever_observed(api: Api) -> None:
    told = samples(api.get("goodput/metrics", api.token("metrics")).content.decode())
    assert {name for name, _ in told} == {STALLED, STRAGGLING, DROPPED}
    assert set(told.values()) == {0}


def test_the_form_follows_the_accept_header(scraped: Scraper) -> None:
    plain = scraped.text(Accept="text/plain")
    assert plain["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    openmetrics = scraped.text(Accept=OPENMETRICS)
    assert openmetrics["Content-Type"].startswith("application/openmetrics-text; version=1.0.0; charset=utf-8")
    assert set(samples(plain.content.decode())) == set(samples(openmetrics.content.decode()))
    for accept in ("", "*/*", "text/html", "nonsense;;q=x"):
        assert scraped.text(Accept=accept)["Content-Type"].startswith("text/plain")
    assert plain["Cache-Control"] == "no-store"


def test_doors(scraped: Scraper) -> None:
    api = scraped.api
    problem(api.get("goodput/metrics", None), 401)
    for scope in ("read", "ingest", "admin"):
        problem(api.get("goodput/metrics", api.token(scope)), 403)
    problem(api.get("goodput/metrics", scraped.token, by="run"), 400)


def test_the_number_of_queries_is_the_same_whatever_there_is(scraped: Scraper) -> None:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        scraped.text()
    assert len(asked) == QUERIES


def test_names_on_two_clusters_are_one(scraped: Scraper) -> None:
    told = by(scraped.samples(), HOURS, "category", scope="machine", name="gpu-2", window="day")
    assert sum(told.values()) > 8 * 24  # a gang on each of the clusters holds its gpu-2


def test_two_runs_of_one_name_are_told_apart_by_their_uids(scraped: Scraper) -> None:
    Run.objects.filter(uid="uid-w-llm").update(name="llm")
    told = scraped.samples()
    assert {run for run in by(told, RUN_RATIO, "run") if "llm" in run} == {"llm/uid-llm", "llm/uid-w-llm"}
    Run.objects.filter(uid="uid-w-llm").update(uid="uid-llm")
    told = scraped.samples()
    assert {run for run in by(told, RUN_RATIO, "run") if "llm" in run} == {"llm/uid-llm"}


def test_days_that_became_dirty_are_read_by_their_hours(scraped: Scraper, history: History) -> None:
    """A roll-up that is not made again yet counts for nothing; what it was made of is asked for in its place."""
    Cluster.objects.update(counted_until=F("open_hour") + timedelta(hours=1))
    before = scraped.samples()
    for days in ([1], [1, 2, 9], range(1, 30)):
        for cluster in (scraped.tenants.east, history.west):
            sql.run("day_dirty", cluster=cluster.pk, days=[floor_day(history.now) - number * DAY for number in days])
        assert scraped.samples() == before
    DayRun.objects.all().delete()
    RunTotal.objects.all().delete()
    assert scraped.samples() == before


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each statement for figures, whether it asked for closed hours, too; at first none are kept."""
    module = import_module("ledger.queries.scrape")
    of, found = module._asked, []

    def asks(where: Any, *, whole: bool) -> Any:
        found.append(whole)
        return of(where, whole=whole)

    queries.forget_closed_hours()
    monkeypatch.setattr(module, "_asked", asks)
    return found


def afresh(scraped: Scraper) -> Any:
    """The samples when nothing is kept of closed hours."""
    queries.forget_closed_hours()
    return scraped.samples()


def roll_all_up() -> None:
    for cluster in Cluster.objects.all():
        roll_up(cluster.pk)


def test_closed_hours_are_kept_until_they_change(scraped: Scraper, history: History, asked: list[bool]) -> None:
    roll_all_up()
    Cluster.objects.update(counted_until=F("open_hour") + timedelta(hours=1))
    before = scraped.samples()
    assert scraped.samples() == before == afresh(scraped)
    assert asked == [True, False, True]
    del asked[:]

    late = Batch("test", history.now, seen_from=history.edge - 5 * HOUR)
    run(late, "late", "ana", history.edge - 5 * HOUR)
    state(
        late, "late", "worker-0", history.edge - 5 * HOUR, Phase.RUNNING, gpus_milli=8000, machine="gpu-3", pool="h100"
    )
    state(late, "late", "worker-0", history.edge - 3 * HOUR, Phase.ENDED)
    assert ingest(scraped.tenants.east, late).refused == []
    dirty = scraped.samples()
    assert dirty == scraped.samples() == afresh(scraped)
    assert asked == [False, True, True, True], "what is dirty is not kept"
    of = {"scope": "machine", "name": "gpu-3", "window": "day"}
    held = [sum(by(told, HOURS, "category", **of).values()) for told in (before, dirty)]
    assert held[1] - held[0] == pytest.approx(16)
    del asked[:]

    roll_all_up()
    assert dirty == scraped.samples() == scraped.samples() == afresh(scraped)
    assert asked == [True, False, True]


def test_what_is_kept_is_of_one_scope_and_one_hour(scraped: Scraper, history: History, asked: list[bool]) -> None:
    roll_all_up()
    Cluster.objects.update(counted_until=F("open_hour") + timedelta(hours=1))
    speech = scraped.api.token("metrics", workspace=scraped.tenants.speech)
    whole, part = scraped.samples(), scraped.samples(speech)
    assert (scraped.samples(), scraped.samples(speech)) == (whole, part)
    assert asked == [True, True, False, False]
    scope = scope_of_organization(scraped.tenants.acme)
    days = [queries.scrape(scope, history.now - ago * DAY).spent["pool", "day"] for ago in (0, 4, 0)]
    first, before, last = (dict(zip(of.names, of.asked, strict=True)) for of in days)
    assert first == last != before
    assert asked[4:] == [False, False, True, False, True]


def test_names_are_those_of_now(scraped: Scraper, asked: list[bool]) -> None:
    roll_all_up()
    scraped.samples()
    Machine.objects.filter(name="gpu-1").update(name="renamed")
    Workspace.objects.filter(pk=scraped.tenants.speech.pk).update(name="words")
    told = scraped.samples()
    assert asked == [True, False]
    assert "renamed" in by(told, HOURS, "name", scope="machine", window="day")
    assert set(by(told, HOURS, "name", scope="workspace", window="day")) == {"vision", "words"}


def test_no_more_is_kept_than_of_some_scopes(scraped: Scraper, asked: list[bool]) -> None:
    roll_all_up()
    module = import_module("ledger.queries.scrape")
    for number in range(2 * module.SCOPES_KEPT):
        workspace = Workspace.objects.create(organization=scraped.tenants.acme, name=f"more-{number}")
        scraped.samples(scraped.api.token("metrics", workspace=workspace))
        assert 0 < len(module._kept) <= module.SCOPES_KEPT


HOSTILE = [
    'a"b',
    "a\\b",
    "a\\",
    'a"} 1\nb{x="',
    "a\nb",
    "a\rb",
    "é用户",
    "{}",
    "# HELP x",
    "\u2028",
    "_other",
    " ",
    "a" * 253,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_kills_the_scrape(scraped: Scraper, name: str) -> None:
    """Also names that the door would not have let in."""
    before = scraped.samples()
    Machine.objects.filter(name="gpu-1").update(name=name)
    Run.objects.filter(name="llm").update(name=name)
    Workspace.objects.filter(pk=scraped.tenants.speech.pk).update(name=name)
    for accept in ("text/plain", OPENMETRICS):
        told = samples(scraped.text(Accept=accept).content.decode())
        assert len(told) == len(before)
        for scope in ("machine", "workspace"):
            assert name in by(told, RATIO, "name", scope=scope, window="day")
        assert by(told, RUN_RATIO, "namespace", run=name) == {"vision": by(told, RUN_RATIO, "run")[name]}


def test_at_the_most_names_and_one_more(scraped: Scraper, settings: Settings) -> None:
    settings.METRICS_NAMES_MAX = 5
    assert by(scraped.samples(), DROPPED, "scope") == {"cluster": 0, "workspace": 0, "machine": 0, "pool": 0, "run": 1}
    settings.METRICS_NAMES_MAX = 6
    whole = scraped.samples()
    assert set(by(whole, DROPPED, "scope").values()) == {0}
    settings.METRICS_NAMES_MAX = 3
    told = scraped.samples()
    assert by(told, DROPPED, "scope") == {"cluster": 0, "workspace": 0, "machine": 1, "pool": 0, "run": 3}
    machines = by(told, HOURS, "name", scope="machine", window="day")
    assert len(machines) == 4
    assert "_other" in machines
    runs = {(dict(labels)["namespace"], dict(labels)["run"]) for name, labels in told if name == RUN_HOURS}
    assert len(runs) == 3 + len({namespace for namespace, run in runs if run == "_other"})
    for name in (HOURS, RUN_HOURS):
        assert total(told, name) == pytest.approx(total(whole, name), rel=1e-4)
    assert settings.METRICS_NAMES_MAX != NAMES_MAX


def total(told: Any, name: str) -> float:
    return sum(value for (of, _), value in told.items() if of == name)


def test_the_most_names_are_what_the_settings_say() -> None:
    assert settings.METRICS_NAMES_MAX == NAMES_MAX


def test_many_runs_that_are_over_cost_no_sample(api: Api, history: History) -> None:
    """10,000 finished ones and 200 that go on: only these are exported."""
    scope = scope_of_organization(api.tenants.acme)
    before = len(queries.scrape(scope, history.now).runs.names)
    template = Run.objects.get(uid="uid-sweep-0")
    Run.objects.bulk_create(
        Run(cluster=template.cluster, workspace=template.workspace, uid=f"old-{n}", name=f"old-{n}")
        for n in range(10_000)
    )
    told = Batch("test", history.now)
    for number in range(200):
        run(told, f"new-{number}", "ana", history.now - HOUR)
        state(told, f"new-{number}", "worker-0", history.now - HOUR, Phase.RUNNING, gpus_milli=1000)
    tell(api.tenants.east, told)
    seen = queries.scrape(scope, history.now)
    assert len(seen.runs.names) == before + 200
    text = metrics.exposition(metrics.families(seen), "")[0].decode()
    assert len(by(samples(text), RUN_RATIO, "run", namespace="vision")) == 203
    assert "old-" not in text


def test_hour_is_the_running_utc_hour_and_day_the_24_that_end_with_it(api: Api, history: History) -> None:
    scope = scope_of_organization(api.tenants.acme)
    hour = floor_hour(history.now)
    seen = queries.scrape(scope, history.now)
    asked = {
        window: dict(zip(of.names, of.asked, strict=True))
        for (kind, window), of in seen.spent.items()
        if kind == "cluster"
    }
    assert asked["day"]["east"] > asked["hour"]["east"] > 0
    yesterday = queries.scrape(scope, history.now - 5 * HOUR)
    expected = queries.goodput(scope, Window(hour - 28 * HOUR, hour - 4 * HOUR), "pool")
    assert sum(yesterday.spent["pool", "day"].asked) == expected.total.asked
    assert sum(yesterday.spent["pool", "hour"].held) == (
        queries.goodput(scope, Window(hour - 5 * HOUR, hour - 4 * HOUR), "pool").total.allocated
    )
    assert key(RATIO, scope="cluster", name="east", window="day") in samples(
        metrics.exposition(metrics.families(yesterday), "")[0].decode()
    )
