"""Two organizations, and people and tokens that differ in what they may see."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client

from ledger.models import Cluster, Organization, Token, Workspace


@dataclass
class Tenants:
    """Acme has two workspaces and a cluster; globex one of each, under the same names."""

    acme: Organization
    vision: Workspace
    speech: Workspace
    east: Cluster
    globex: Organization
    foreign: Workspace
    foreign_east: Cluster


@pytest.fixture
def tenants(db: None) -> Tenants:
    acme = Organization.objects.create(name="acme")
    globex = Organization.objects.create(name="globex")
    return Tenants(
        acme=acme,
        vision=Workspace.objects.create(organization=acme, name="vision"),
        speech=Workspace.objects.create(organization=acme, name="speech"),
        east=Cluster.objects.create(organization=acme, name="east"),
        globex=globex,
        foreign=Workspace.objects.create(organization=globex, name="vision"),
        foreign_east=Cluster.objects.create(organization=globex, name="east"),
    )


@contextmanager
def one_connection() -> Iterator[None]:
    """Keep the test's transaction, as Django's own test client does: the application closes it with each request."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


@pytest.fixture
def api(tenants: Tenants) -> "Api":
    return Api(tenants)


def instant(seconds_ago: float) -> str:
    """RFC 3339, that long before now."""
    return (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat()


class Api:
    """The interface as a program uses it: one token for each call."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants
        self.client = Client()

    def token(self, *scopes: str, workspace: Workspace | None = None, of: Organization | None = None) -> str:
        if workspace is not None:
            of = workspace.organization
        return Token.issue(of or self.tenants.acme, workspace, list(scopes))[1]

    def get(self, path: str, token: str | None, **query: Any) -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return self.client.get(f"/v1/{path}", query, headers=headers)

    def post(self, body: bytes | dict[str, Any], token: str | None, cluster: str = "east", **headers: str) -> Any:
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        kind = headers.pop("content_type", "application/json")
        return self.client.post(f"/v1/clusters/{cluster}/observations", body, content_type=kind, headers=headers)


@pytest.fixture
def history(api: Api) -> Any:
    from tests.api.history import make_history

    return make_history(api)
