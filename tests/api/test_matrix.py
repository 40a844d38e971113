"""Every address × every principal × own, sibling, foreign, unknown × every method: the exact status."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client

from ledger import queries
from ledger.batches import Batch, MachineItem
from ledger.categorizer import categorize
from ledger.core.categories import Phase
from ledger.ingest import ingest
from ledger.logs.builtin import BUILTIN
from ledger.measuring.begin import Wish, begin
from ledger.measuring.profiles import save
from ledger.models import Administration, Cluster, Membership, Organization, Run, Token, Workspace
from tests.alerts.test_seen import alert
from tests.api.conftest import instant
from tests.api.forms import DOORS, FORMS, Form, changed, sent
from tests.api.matrix import ADDRESSES, METHODS, PEOPLE, PRINCIPALS, TARGETS, TOKENS, admin, routes
from tests.dashboards.world import MINUTE, run, state

ADMIN = "admin/"
CHANGES = ("POST", "PUT", "PATCH", "DELETE")


@dataclass
class Site:
    """An organization of two workspaces and two clusters, another one beside it, and somebody of every kind."""

    clients: dict[str, Client]
    headers: dict[str, dict[str, str]]
    alerts: dict[str, str]

    def ask(self, who: str, method: str, path: str, query: str) -> Any:
        body = f'{{"source": "matrix", "sent_at": "{instant(0)}"}}' if method == "POST" else ""
        return self.clients[who].generic(
            method, path, body, content_type="application/json", headers=self.headers[who], QUERY_STRING=query
        )


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Thousands of refusals are meant."""
    caplog.set_level(logging.ERROR, "django.request")
    caplog.set_level(logging.ERROR, "django.security.csrf")


@pytest.fixture
def site(db: None) -> Site:
    acme, globex = (Organization.objects.create(name=name) for name in ("acme", "globex"))
    rooms = {
        "own": Workspace.objects.create(organization=acme, name="vision"),
        "sibling": Workspace.objects.create(organization=acme, name="speech"),
        "foreign": Workspace.objects.create(organization=globex, name="hidden"),
    }
    east, west, theirs = (
        Cluster.objects.create(organization=of, name=name)
        for of, name in ((acme, "east"), (acme, "west"), (globex, "theirs"))
    )
    now = queries.now()
    for target, workspace in rooms.items():
        told = Batch("test", now)
        run(told, target, "ana", now - MINUTE, workspace=workspace.name)
        where = {"machine": f"gpu-{target}", "pool": f"pool-{target}"}
        state(told, target, "worker-0", now - MINUTE, Phase.RUNNING, gpus_milli=1000, **where)
        cluster = theirs if target == "foreign" else east
        assert ingest(cluster, told).refused == []
    spare = Batch("test", now, machines=[MachineItem(0, "gpu-west", "pool-west", 8000, True)])
    assert ingest(west, spare).refused == []
    for each in Run.objects.all():
        begin(each.pk, Wish("maxtext"))
    save(globex, "theirs", BUILTIN["maxtext"], "test")
    for cluster in Cluster.objects.all():
        categorize(cluster)
    alerts = {
        target: str(alert(theirs if target == "foreign" else east, workspace).pk) for target, workspace in rooms.items()
    }
    return Site(people(rooms), tokens(acme, rooms["own"]), {**alerts, "unknown": "0", "": "0"})


def people(rooms: dict[str, Workspace]) -> dict[str, Client]:
    users = {name: User.objects.create_user(re.sub(r"\W", "", name), is_staff=name == "operator") for name in PEOPLE}
    Membership.objects.create(user=users["member"], workspace=rooms["own"])
    Membership.objects.create(user=users["sibling's member"], workspace=rooms["sibling"])
    Administration.objects.create(user=users["organization's admin"], organization=rooms["own"].organization)
    Administration.objects.create(user=users["foreign admin"], organization=rooms["foreign"].organization)
    clients = {name: Client(enforce_csrf_checks=True, raise_request_exception=False) for name in PRINCIPALS}
    for name, user in users.items():
        clients[name].force_login(user)
    return clients


def tokens(organization: Organization, workspace: Workspace) -> dict[str, dict[str, str]]:
    every = ["read", "metrics", "ingest", "admin"]
    issued = {name: Token.issue(organization, None, every) for name in ("expired token", "revoked token")}
    for name, scope in TOKENS.items():
        issued[name] = Token.issue(organization, workspace if name.startswith("workspace's") else None, [scope])
    Token.objects.filter(pk=issued["expired token"][0].pk).update(expiry=Now() - timedelta(seconds=1))
    issued["revoked token"][0].delete()
    shown = {name: {"Authorization": f"Bearer {plain}"} for name, (_, plain) in issued.items()}
    return {name: shown.get(name, {}) for name in PRINCIPALS}


def path_of(route: str, values: dict[str, str]) -> str:
    return "/" + re.sub(r"<\w+:(\w+)>", lambda match: values[match[1]], route)


def everything(response: Any) -> tuple[Any, ...]:
    return response.status_code, response.content, sorted(response.headers.items())


def test_every_address_is_listed_and_no_other() -> None:
    assert {route for route in routes() if not route.startswith(ADMIN)} == set(ADDRESSES)
    assert len(PRINCIPALS) >= 10


def surprises(site: Site, route: str, who: str) -> list[str]:
    """What somebody gets that is not as it should be: another status, or 404 in other words than what there is not."""
    address, found = ADDRESSES[route], []
    targets = TARGETS if len(address.targets) > 1 else ("",)
    for method in METHODS:
        paths = [path_of(route, values) for values in address.targets]
        answers = [everything(site.ask(who, method, path, address.query)) for path in paths]
        for target, answer in zip(targets, answers, strict=True):
            expected = address.rule(who, target, method)
            if answer[0] != expected:
                found.append(f"{who} {method} {target}: {answer[0]}, not {expected}")
            if expected == 404 and answer != answers[-1]:
                found.append(f"{who} {method} {target}: not the answer to what there is not")
    return found


@pytest.mark.parametrize("route", ADDRESSES)
def test_each_principal_gets_exactly_what_is_theirs(site: Site, route: str) -> None:
    assert [surprise for who in PRINCIPALS for surprise in surprises(site, route, who)] == []


def answered(site: Site, path: str, method: str, who: str, said: dict[str, str] | None) -> tuple[Any, ...]:
    """The answer to a changing request with the right CSRF token, undone after it."""
    client = Client(raise_request_exception=False)
    client.cookies = site.clients[who].cookies.copy()
    with transaction.atomic():
        answer = client.post(path, said) if said is not None else client.generic(method, path)
        transaction.set_rollback(True)
    return everything(answer)


def wishes(route: str, ids: dict[str, str], target: str) -> Iterator[tuple[str, dict[str, str] | None, Form | None]]:
    """Every changing request: the forms of a page with what is the target's, and each method with an empty body."""
    for form in FORMS.get(route, ()):
        yield "POST", {key: text.format(alert=ids[target]) for key, text in form.said.items()}, form
    yield from ((method, None, None) for method in CHANGES if method != "POST" or route not in FORMS)


@pytest.mark.parametrize("route", ADDRESSES)
def test_each_person_changes_exactly_what_is_theirs(site: Site, route: str) -> None:
    address, surprising = ADDRESSES[route], []
    targets = TARGETS if len(address.targets) > 1 else ("",)
    paths = {target: path_of(route, values) for target, values in zip(targets, address.targets, strict=True)}
    for who in PEOPLE:
        of_nothing = [answered(site, paths[targets[-1]], method, who, said)
                      for method, said, _ in wishes(route, site.alerts, targets[-1])]  # fmt: skip
        for target, path in paths.items():
            for (method, said, form), nothing in zip(wishes(route, site.alerts, target), of_nothing, strict=True):
                answer = answered(site, path, method, who, said)
                expected = changed(route, who, target, method) if form is None else sent(route, who, target, form)
                if answer[0] != expected:
                    surprising.append(f"{who} {method} {target} {said}: {answer[0]}, not {expected}")
                if expected == 404 and answer != nothing:
                    surprising.append(f"{who} {method} {target} {said}: not the answer to what there is not")
    assert surprising == []


@pytest.mark.parametrize("route", FORMS)
def test_forms_of_who_is_not_signed_in_change_nothing(site: Site, route: str) -> None:
    for values in ADDRESSES[route].targets:
        for form in FORMS[route]:
            client = Client(raise_request_exception=False)
            for who in ("anonymous", "admin token", "revoked token"):
                answer = client.post(path_of(route, values), form.said, headers=site.headers[who])
                if route not in DOORS:
                    assert (answer.status_code, answer["Location"][:12]) == (302, "/login?next=")


def test_somebody_sees_each_target_and_somebody_does_not() -> None:
    for address in ADDRESSES.values():
        for target in TARGETS[:-1] if len(address.targets) > 1 else ():
            seen = {address.rule(who, target, method) for who in PRINCIPALS for method in METHODS}
            assert 404 in seen if target == "foreign" else seen & {200, 202, 400}  # 400: let in, with an empty body


def filled(route: str) -> str:
    """The path of a route with anything in the place of its parameters."""
    return "/" + re.sub(r"[\\^$]", "", re.sub(r"<[^>]*>|\(\?P<\w+>[^)]*\)", "1", route))


def test_the_admin_is_for_operators(site: Site) -> None:
    inside = {filled(route) for route in routes() if route.startswith(ADMIN)}
    assert len(inside) > 10
    for path in inside - {f"/{ADMIN}login/"}:
        for who in PRINCIPALS:
            for method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS"):
                status = site.ask(who, method, path, "").status_code
                if who == "operator":
                    assert status < 500, (path, method)
                else:
                    assert status == admin(who, "", method), (path, who, method)
