"""How many statements the pages of settings, alerts and log profiles take: a number that does not grow with rows."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger import members, tokens
from ledger.logs.builtin import BUILTIN
from ledger.measuring import profiles
from ledger.models import Administration, Alert, Channel, Cluster, Delivery, Membership, Pool, Price, Workspace
from tests.alerts.test_seen import alert
from tests.dashboards.conftest import Get
from tests.dashboards.world import World

ROOM, EAST = "/w/acme/vision", "/organizations/acme/clusters/east"
PAGES = (
    f"{ROOM}/settings", f"{ROOM}/settings/notifications", "/organizations/acme/settings", f"{EAST}/settings",
    f"{ROOM}/alerts", f"{ROOM}/log-profiles", f"{ROOM}/log-profiles/mine-0", f"{EAST}/goodput", f"{ROOM}/goodput",
    "/you",
)  # fmt: skip
API = ("alerts", "log-profiles", "clusters/east/sources", "clusters/east/workers", "runs/uid-llm/pipeline")


def fill(world: World, begin: int, end: int) -> None:
    """Make one of each thing that those pages list, for each number."""
    acme = world.vision.organization
    for number in range(begin, end):
        person = User.objects.create(username=f"person-{number}")
        Membership.objects.create(user=person, workspace=world.vision)
        Administration.objects.create(user=person, organization=acme)
        tokens.issue(acme, world.vision, ["read"], 30)
        members.invite(acme, world.vision, "adam")
        members.invite(acme, None, "adam")
        Workspace.objects.create(organization=acme, name=f"room-{number}")
        Cluster.objects.create(organization=acme, name=f"cluster-{number}")
        pool = Pool.objects.create(cluster=world.east, name=f"pool-{number}")
        Price.objects.create(pool=pool, since="2026-01-01T00:00:00Z", micros=1)
        Price.objects.create(pool=pool, since="2027-01-01T00:00:00Z", micros=2)
        channel = Channel.objects.create(
            workspace=world.vision, kind="email", name=f"c-{number}", target="a@example.com"
        )
        fired = alert(
            world.east,
            world.vision,
            hour=Now() - timedelta(hours=number + 1),
            name=f"vision-{number}",
            pool=f"p{number}",
        )
        Alert.objects.filter(pk=fired.pk).update(subject=f"s-{number}", acknowledged_by="ana", acknowledged_at=Now())
        over = alert(world.east, world.vision, hour=Now() - timedelta(hours=number + 1), name="o", resolved_at=Now())
        Alert.objects.filter(pk=over.pk).update(subject=f"s-{number}")
        Delivery.objects.create(channel=channel, alert=fired, event="firing")
        profiles.save(acme, f"mine-{number}", BUILTIN["maxtext"], "adam")
        if number:
            changed = BUILTIN["maxtext"] | {"metadata": {"name": "mine-0", "labels": {"n": str(number)}}}
            profiles.save(acme, "mine-0", changed, "adam")


def count(ask: Any) -> int:
    ask()
    with CaptureQueriesContext(connection) as asked:
        assert ask().status_code == 200
    return len(asked)


def counts(get: Get, token: str) -> dict[str, int]:
    headers = {"Authorization": f"Bearer {token}"}
    found = {path: count(lambda path=path: get(path, "adam")) for path in PAGES}
    client = Client()
    return found | {path: count(lambda path=path: client.get(f"/v1/{path}", headers=headers)) for path in API}


def test_pages_of_many_rows_take_what_pages_of_one_row_take(world: World, get: Get) -> None:
    """But for one statement, where not all are shown: how many there are."""
    token = tokens.issue(world.vision.organization, None, ["read", "ingest", "admin"], 30)
    fill(world, 0, 1)
    one = counts(get, token)
    fill(world, 1, 20)
    many = counts(get, token)
    counted = {f"{ROOM}/goodput", f"{ROOM}/alerts", "alerts"}
    assert {path: many[path] - one[path] for path in one if many[path] - one[path] > (path in counted)} == {}
