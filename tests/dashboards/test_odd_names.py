"""Organizations, workspaces, clusters, pools, machines, runs of any name: each of their pages is reached by links."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client

from ledger import queries
from ledger.batches import Batch, MachineItem
from ledger.core.categories import Phase
from ledger.core.windows import floor_hour
from ledger.ingest import ingest
from ledger.management import tenants
from ledger.models import Administration, Cluster, Organization, Workspace
from tests.browser.screens import addressed
from tests.dashboards.reading import read
from tests.dashboards.world import run, state

pytestmark = pytest.mark.django_db
NAMES = ["a/b", "a/goodput", "runs/x/settings", "100%", "a%2Fb", "..", "clusters", "é ?#&;=+", '"><img src=x>', "w/"]


@pytest.fixture
def client() -> Client:
    """Somebody who runs every organization of this test."""
    admin = Client()
    admin.force_login(User.objects.create_user("root"))
    return admin


def fill(name: str) -> None:
    """An organization in which all there is has this name."""
    now = queries.now()
    organization = Organization.objects.create(name=name)
    Administration.objects.create(user=User.objects.get(), organization=organization)
    Workspace.objects.create(organization=organization, name=name)
    cluster = Cluster.objects.create(organization=organization, name=name)
    batch = Batch("test", now, seen_from=floor_hour(now))
    batch.machines = [MachineItem(0, name, name, 8000, True)]
    run(batch, name, name, floor_hour(now), workspace=name)
    batch.runs[0] = batch.runs[0]._replace(uid=name)
    state(batch, name, "worker-0", floor_hour(now), Phase.RUNNING, gpus_milli=1000, machine=name, pool=name)
    batch.workers[0] = batch.workers[0]._replace(run=name)
    assert ingest(cluster, batch).refused == []


def shown(client: Client, address: str) -> Any:
    page = client.get(address)
    assert page.status_code == 200, address
    return page


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_there_and_its_links_lead_somewhere(client: Client, name: str) -> None:
    fill(name)
    known = dict.fromkeys(("organization", "workspace", "cluster", "run", "machines", "pools"), name)
    pages = {route: at for route, at in addressed(known | {"log-profiles": "maxtext"}) if route != "login"}
    links = set()
    for route, address in pages.items():
        page = shown(client, address)
        place = page.context.get("place")
        assert place is None or place.name == name, route
        found = (a.attributes["href"] for a in read(page).of("a") if "href" in a.attributes)
        links |= {re.sub(r"[?#].*", "", link) for link in found if link.startswith("/")}
    assert set(pages.values()) - links <= {address for route, address in pages.items() if "<name:run>" in route}
    for link in links - set(pages.values()) - {"/"}:
        assert client.get(link).status_code in (200, 302), link


def test_commands_take_names_with_slashes(client: Client) -> None:
    fill("a/b")
    user, other = User.objects.create_user("ana"), User.objects.create_user("bo")
    assert tenants.member(user, "a/b/a/b")
    Workspace.objects.create(organization=Organization.objects.create(name="a"), name="b/c")
    assert tenants.member(other, "a/b/c")
    assert list(other.membership_set.values_list("workspace__name", flat=True)) == ["b/c"]
    for wrong, why in [("ab", "ORGANIZATION/WORKSPACE"), ("a/b/nothing", 'no workspace "b/nothing"')]:
        with pytest.raises(CommandError, match=why):
            tenants.member(user, wrong)
