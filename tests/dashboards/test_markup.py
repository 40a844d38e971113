"""Names and texts that are markup, in everything that is stored and shown: pages show them, and none becomes a tag."""

from urllib.parse import quote

from django.contrib.auth.models import User
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client

from ledger.core.parts import part
from ledger.models import (
    Channel,
    Cluster,
    Delivery,
    Machine,
    Organization,
    Pool,
    Run,
    Source,
    Worker,
    Workspace,
)
from tests.alerts.test_seen import alert
from tests.dashboards.world import World

TAG = "<script>alert(1)<b>\"'><img src=x>"
NAMED = (Worker, Machine, Pool, Source, Workspace, Cluster, Organization)


def mark(world: World) -> None:
    """Put the markup before every name, and wherever else somebody's text is kept."""
    said = {"type": TAG, "status": "True", "reason": TAG, "message": TAG, "at": "2026-11-01T00:00:00Z"}
    Run.objects.update(name=TAG, user=TAG, outcome=TAG, kind=TAG, conditions=[said])
    Worker.objects.update(pod=TAG, devices=TAG)
    channel = Channel.objects.create(workspace=world.vision, kind="email", name=TAG, target=TAG, pools=[TAG])
    known = {"acknowledged_by": TAG, "acknowledged_at": "2026-11-01T00:00:00Z"}
    fired = alert(world.east, world.vision, name=TAG, pool=TAG, **known)
    alert(world.east, world.vision, "source_stale", name=TAG, resolved_at="2026-11-01T00:00:00Z")
    Delivery.objects.create(channel=channel, alert=fired, event="firing", error=TAG)
    for model in NAMED:
        model.objects.update(name=Concat(Value(TAG), F("name")))


def test_no_text_becomes_a_tag(world: World) -> None:
    mark(world)
    acme, vision, east = (quote(TAG + name, safe="") for name in ("acme", "vision", "east"))
    room, whole = f"/w/{acme}/{vision}", f"/organizations/{acme}/clusters/{east}"
    of_both = ("goodput?by=machine", "goodput?by=user", "goodput/weekly", "machines", "pools", "settings")
    spots = (f"pools/{part(TAG + 'h100')}", f"machines/{part(TAG + 'gpu-5')}")
    of_room = ("runs", "runs/uid-llm", "alerts", "settings/notifications", "log-profiles", "log-profiles/maxtext")
    paths = [f"{base}/{page}" for base in (room, whole) for page in (*of_both, *spots)]
    paths += [*(f"{room}/{page}" for page in of_room), f"/organizations/{acme}/settings"]
    adam = Client()
    adam.force_login(User.objects.get(username="adam"))
    for path in paths:
        page = adam.get(path)
        assert (path, page.status_code) == (path, 200)
        assert not [tag for tag in (b"<script>alert", b"<img src=x") if tag in page.content], path
        assert b"&lt;script&gt;alert" in page.content, path
