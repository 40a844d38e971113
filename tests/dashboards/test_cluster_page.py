"""The ledger of a whole cluster: for an organization's admins and for operators, each workspace of it together."""

import pytest

from dashboards.numbers import hours
from ledger import queries
from ledger.access import scope_of_organization
from ledger.batches import Batch
from ledger.core.categories import Phase
from ledger.core.windows import DAY, HOUR, Window
from ledger.ingest import ingest
from ledger.models import Cluster
from tests.dashboards.conftest import Get
from tests.dashboards.reading import cells, read, text_of
from tests.dashboards.test_goodput_page import closed
from tests.dashboards.world import MINUTE, World, run, state

EAST = "/organizations/acme/clusters/east/goodput"


@pytest.fixture
def west(world: World) -> Cluster:
    """A second cluster of the same organization and workspace, with a stalled worker."""
    west = Cluster.objects.create(organization=world.vision.organization, name="west")
    batch = Batch("test/west", world.now, seen_from=world.now - 20 * MINUTE)
    run(batch, "far", "ana", world.now - 20 * MINUTE)
    begin = world.now - 20 * MINUTE
    state(batch, "far", "worker-0", begin, Phase.RUNNING, gpus_milli=4000, machine="w-1", stalled=True)
    assert ingest(west, batch).refused == []
    return west


def test_only_admins_of_the_organization_and_operators_see_it(world: World, get: Get) -> None:
    assert get(EAST, "adam").status_code == get(EAST, "olga").status_code == 200
    assert [get(EAST, who).status_code for who in ("ana", "sol", "eve", "nora")] == [404] * 4
    assert get(EAST, "")["Location"] == f"/login?next={EAST}"
    assert get("/organizations/globex/clusters/east/goodput", "olga").status_code == 404


def test_it_is_in_the_menu_of_who_may_see_it(world: World, get: Get) -> None:
    def listed(who: str) -> bool:
        return f'href="{EAST}"' in get(who=who).content.decode()

    assert [listed(who) for who in ("adam", "olga", "ana")] == [True, True, False]


@pytest.mark.parametrize("by", ["workspace", "pool", "machine", "run", "user"])
def test_each_tab_is_of_every_workspace(world: World, get: Get, by: str) -> None:
    scope = scope_of_organization(world.vision.organization, world.east.pk)
    answer = queries.goodput(scope, Window(world.edge - 2 * DAY, world.edge), by, limit=None)
    shown = cells(get(EAST, "adam", by=by, **closed(world)))
    assert len(shown) == len(answer.rows) + 1
    assert shown[-1][1] == hours(answer.total.allocated)
    names = {row.name for row in answer.rows}
    assert {"workspace": {"vision", "speech"}, "run": {"choir", "llm"}, "user": {"sol"}}.get(by, set()) <= names


def test_a_workspace_leads_to_its_own_page(world: World, get: Get) -> None:
    page = read(get(EAST, "adam", by="workspace", **closed(world)))
    (link,) = [a for a in page.by_id("rows").of("a") if a.text == "speech"]
    there = get(link.attributes["href"], "adam")
    assert [row[0] for row in cells(there)] == ["choir", "Total"]
    assert there.context["shown"].window == Window(world.edge - 2 * DAY, world.edge)


def test_sources_that_are_silent_or_held_back_are_named(world: World, get: Get) -> None:
    begin = world.now - 20 * MINUTE
    for source, word in (("well", world.now), ("silent", begin), ("held", world.now - MINUTE)):
        batch = Batch(f"agent/{source}", word, complete=True)
        run(batch, source, "ana", begin)
        for k in range(10):
            state(batch, source, f"w-{k}", begin, Phase.RUNNING, gpus_milli=1000, machine=f"{source}-{k}")
            batch.named.add((f"uid-{source}", f"w-{k}"))
        assert ingest(world.east, batch).refused == []
    ingest(world.east, Batch("agent/held", world.now, complete=True))
    ingest(world.east, Batch("logs/8c1f", world.now))
    told = text_of(get(EAST, "adam"), "sources")
    assert "agent/held lacks most of its workers since" in told
    assert "confirm_vanished agent/held" in told
    assert "agent/silent is silent; since" in told
    assert "agent/well 10" in told
    assert "logs/" not in told
    assert "agent/well is" not in told


def test_another_cluster_of_the_organization_stays_out(world: World, west: Cluster, get: Get) -> None:
    there, here = get("/organizations/acme/clusters/west/goodput", "adam"), get(EAST, "adam")
    assert [row[0] for row in cells(there)] == ["far", "Total"]
    assert "far worker-0 w-1" in text_of(there, "now")
    assert "far" not in text_of(here, "now")
    assert "far" not in [row[0] for row in cells(here)]
    assert queries.first_hour(scope_of_organization(west.organization, west.pk)) >= world.edge - HOUR  # type: ignore[operator]
    assert there.context["figures"][1].spark.count("M") == 1


def test_a_cluster_on_which_nothing_was_counted_says_so(world: World, get: Get) -> None:
    Cluster.objects.create(organization=world.vision.organization, name="new")
    page = get("/organizations/acme/clusters/new/goodput", "adam")
    assert "Nothing has been counted on this cluster yet" in text_of(page, "connect")
    assert "astra collect kubernetes" in text_of(page, "sources-to-come")
