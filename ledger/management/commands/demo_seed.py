"""`manage.py demo_seed` makes the demo: its tenants, eight weeks of history, a login and tokens."""

import secrets
import time
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

from ledger import queries
from ledger.core.windows import DAY
from ledger.demo import playing
from ledger.demo.names import TEAMS
from ledger.demo.world import NOW_DAY
from ledger.management import demo, tenants
from ledger.management.feeding import feed
from ledger.management.progress import progress
from ledger.models import Cluster, Organization, Run
from ledger.models.access import Token, digest_of

ORGANIZATION, CLUSTER, USER = "acme", "east", "demo"
TOKENS = {"token": ["read", "metrics"], "admin_token": ["read", "metrics", "admin"], "ingest_token": ["ingest"]}


class Command(BaseCommand):
    """Said again it changes nothing; broken off it goes on, for all it sends is the same again."""

    help = "Makes the demo: a public trace on synthetic machines, eight weeks of it behind now."

    def handle(self, *_: Any, **__: Any) -> None:
        path = settings.PLACES.demo
        if is_there(demo.read(path)):
            self.stdout.write("the demo is there already")
            return
        began = time.monotonic()
        organization, cluster = make_tenants()
        now = queries.now()
        world = playing.World(NOW_DAY + DAY)
        shift = shift_of_runs(cluster, world)
        shift = playing.shift_at(now) if shift is None else shift
        world = world if now - shift < world.until else playing.World(now - shift)
        many = len(world.begun(now - shift))
        with progress(self.stdout, "demo", many) as advance:
            tally = feed(cluster, playing.history(world, now - shift, shift), advance)
        for line in tally.lines():
            self.stdout.write(line)
        demo.write(path, {"shift_ms": str(shift), "seeded_until_ms": str(now), **let_in(organization)})
        self.stdout.write(f"the demo is made: {many:,} runs in {time.monotonic() - began:.0f} s")


def is_there(values: dict[str, str]) -> bool:
    """Whether demo.json is whole and its tokens are those of this database."""
    tokens = [digest_of(values.get(name, "")) for name in TOKENS]
    return demo.is_complete(values) and Token.objects.filter(digest__in=tokens).count() == len(tokens)


def make_tenants() -> tuple[Organization, Cluster]:
    """Make the organization, its cluster and its workspaces."""
    organization, _ = tenants.make_organization(ORGANIZATION)
    for team in TEAMS:
        tenants.make_workspace(organization, team.workspace)
    return organization, tenants.make_cluster(organization, CLUSTER)[0]


def shift_of_runs(cluster: Cluster, world: playing.World) -> int | None:
    """Return the shift at which a demo was begun in this cluster, None when it was not."""
    runs = Run.objects.filter(cluster=cluster, uid__startswith="philly-", submitted_at__isnull=False)
    told = {uid: round(at.timestamp() * 1000) for uid, at in runs.values_list("uid", "submitted_at")[:100] if at}
    return playing.shift_of(told, world)


def let_in(organization: Organization) -> dict[str, str]:
    """Give the demo's user a new password and make new tokens; return what demo.json says of them."""
    user, _ = tenants.make_user(USER)
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save()
    _see_all(user, organization)
    plain = {name: Token.issue(organization, None, scopes, None)[1] for name, scopes in TOKENS.items()}
    names = {"organization": ORGANIZATION, "cluster": CLUSTER, "workspace": TEAMS[0].workspace}
    return {"user": USER, "password": password, **names, **plain}


def _see_all(user: User, organization: Organization) -> None:
    tenants.admin(user, organization.name)
    for team in TEAMS:
        tenants.member(user, f"{organization.name}/{team.workspace}")
