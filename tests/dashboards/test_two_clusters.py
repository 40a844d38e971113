"""Pools and machines of one name in two clusters: told apart in rows, links, pages and downloads."""

import csv
import io
from typing import Any

import pytest

from ledger import queries
from ledger.access import Scope, scope_of_workspace
from ledger.batches import Batch, MachineItem
from ledger.core.categories import Phase
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, HOUR, Window
from ledger.ingest import ingest
from ledger.models import Cluster
from ledger.queries import Filters
from tests.dashboards.conftest import Get
from tests.dashboards.reading import cells, read, text_of
from tests.dashboards.test_goodput_page import closed
from tests.dashboards.world import World, run, state

ROOM = "/w/acme/vision"


@pytest.fixture
def west(world: World) -> Cluster:
    """A second cluster in which a run held gpu-1 of its pool h100 for three hours, and failed for two."""
    cluster = Cluster.objects.create(organization=world.vision.organization, name="west")
    batch = Batch("test/west", world.now, seen_from=world.edge - 2 * DAY)
    batch.machines = [MachineItem(0, "gpu-1", "h100", 8000, True)]
    run(batch, "western", "ana", world.edge - 9 * HOUR)
    where = {"machine": "gpu-1", "pool": "h100", "gpus_milli": 4000}
    state(batch, "western", "worker-0", world.edge - 9 * HOUR, Phase.RUNNING, **where)
    state(batch, "western", "worker-0", world.edge - 6 * HOUR, Phase.FAILED, reason="gpu_fault")
    state(batch, "western", "worker-0", world.edge - 4 * HOUR, Phase.ENDED)
    assert ingest(cluster, batch).refused == []
    return cluster


def total(world: World, cluster: Cluster, **only: str) -> Ledger:
    window = Window(world.edge - 2 * DAY, world.edge)
    scope = Scope(scope_of_workspace(world.vision).workspaces, cluster.pk)
    return queries.goodput(scope, window, filters=Filters(**only)).total


def hrefs(page: Any) -> list[str]:
    return [row.href for row in page.context["rows"]]


@pytest.mark.parametrize("only", [{}, {"machine": "gpu-1"}, {"pool": "h100"}, {"user": "ana"}])
def test_a_cluster_is_a_filter_like_any(world: World, west: Cluster, only: dict[str, str]) -> None:
    scope, window = scope_of_workspace(world.vision), Window(world.edge - 2 * DAY, world.edge)
    for cluster in (world.east, west):
        filters, expected = Filters(cluster=cluster.name, **only), total(world, cluster, **only)
        assert queries.goodput(scope, window, filters=filters).total == expected != Ledger()
        assert queries.total(scope, window, filters) == expected
        assert sum((told.ledger for told in queries.hourly(scope, window, filters)), Ledger()) == expected


@pytest.mark.parametrize("by", ["machine", "pool"])
def test_rows_of_one_name_say_their_cluster_and_lead_there(world: World, west: Cluster, get: Get, by: str) -> None:
    name = {"machine": "gpu-1", "pool": "h100"}[by]
    page = get(f"{ROOM}/goodput", by=by, **closed(world))
    rows = {row.detail: row for row in page.context["rows"] if row.name == name}
    assert set(rows) == ({"h100 · east", "h100 · west"} if by == "machine" else {"east", "west"})
    assert len({row.key for row in rows.values()}) == 2
    for detail, row in rows.items():
        cluster = west if detail.endswith("west") else world.east
        assert f"cluster={cluster.name}" in row.href
        assert get(row.href).context["whole"] == row.ledger == total(world, cluster, **{by: name})
        assert f"cluster={cluster.name}" in row.deeper
        assert get(f"{ROOM}/goodput{row.deeper}").context["whole"] == row.ledger


def test_without_a_cluster_a_page_is_of_both_and_says_so(world: World, west: Cluster, get: Get) -> None:
    page = get(f"{ROOM}/pools/h100", **closed(world))
    both = total(world, west, pool="h100") + total(world, world.east, pool="h100")
    assert page.context["whole"] == both
    assert "2 pools of this name, together" in text_of(page, "facts")
    links = [a.attributes["href"] for a in read(page).by_id("facts").of("a")]
    assert [link.split("cluster=")[1] for link in links if link] == ["east", "west"]
    assert {row.detail for row in page.context["rows"] if row.name == "gpu-1"} == {"h100 · east", "h100 · west"}
    alone = get(f"{ROOM}/pools/h100", cluster="west", **closed(world))
    assert [row[0].split(" ")[0] for row in cells(alone)] == ["gpu-1", "Total"]
    assert "together" not in text_of(alone, "facts")
    assert all("cluster=west" in href for href in hrefs(alone))


def test_failures_are_those_of_the_machine_of_the_row(world: World, west: Cluster, get: Get) -> None:
    page = get(f"{ROOM}/machines", **closed(world))
    failed = {row.detail: failures.failed for row, failures, _ in page.context["listed"] if row.name == "gpu-1"}
    assert failed == {"h100 · east": 1, "h100 · west": 1}


@pytest.mark.parametrize("by", ["machine", "pool"])
def test_downloads_and_the_interface_have_the_cluster(world: World, west: Cluster, get: Get, by: str) -> None:
    page = get(f"{ROOM}/goodput", by=by, format="csv", **closed(world))
    rows = list(csv.DictReader(io.StringIO(page.content.decode())))
    names = [(row["name"], row["cluster"]) for row in rows]
    name = {"machine": "gpu-1", "pool": "h100"}[by]
    assert {(name, "east"), (name, "west")} <= set(names)
    assert len(names) == len(set(names))
    found = get(f"{ROOM}/goodput", by=by, format="json", cluster="west", **closed(world)).json()["rows"]
    assert [(row["name"], row["cluster"]) for row in found] == [(name, "west")]
    assert {row["cluster"] for row in rows if row["name"] in ("unplaced", "none")} == {""}


def test_a_cluster_s_page_leads_to_what_a_workspace_had_in_it(world: World, west: Cluster, get: Get) -> None:
    page = get("/organizations/acme/clusters/west/goodput", "adam", by="workspace", **closed(world))
    (row,) = page.context["rows"]
    assert get(row.href, "adam").context["whole"] == row.ledger
    spot = get("/organizations/acme/clusters/west/pools/h100", "adam", by="workspace", **closed(world))
    (row,) = spot.context["rows"]
    assert get(row.href, "adam").context["whole"] == row.ledger


@pytest.mark.parametrize("cluster", ["nowhere", "east ", "hidden"])
def test_a_cluster_that_there_is_not_is_no_page(world: World, get: Get, cluster: str) -> None:
    for page in ("goodput", "goodput/weekly", "machines", "pools", "machines/gpu-1"):
        assert get(f"{ROOM}/{page}", cluster=cluster).status_code == 404
    assert get("/organizations/acme/clusters/east/goodput", "adam", cluster=cluster).status_code == 404


def test_where_there_is_one_cluster_nothing_is_said_of_it(world: World, get: Get) -> None:
    page = get(f"{ROOM}/goodput", by="pool", **closed(world))
    assert {row.detail for row in page.context["rows"]} == {""}
    assert not any("cluster" in href for href in hrefs(page))
