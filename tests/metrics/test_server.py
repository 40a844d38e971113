"""/metrics: how the server does, for operators and for who knows METRICS_TOKEN."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from goodput_site import metrics as server
from ledger.models import Administration, Cluster
from ledger.tasks import categorize_cluster
from tests.api.conftest import Api, instant
from tests.api.test_observations import batch
from tests.metrics.reading import by, samples

TOKEN = "a-token-of-the-installation"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no broker beside these tests but in the ones that say so."""
    monkeypatch.setattr(server, "queue_length", lambda: None)


def get(bearer: str | None = None, **headers: str) -> Any:
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer}"
    return Client().get("/metrics", headers=headers)


def told(settings: Settings) -> dict[Any, float]:
    settings.METRICS_TOKEN = TOKEN
    response = get(TOKEN)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "no-store" in response["Cache-Control"]
    return samples(response.content.decode())


def test_a_cluster_that_is_counted(api: Api, settings: Settings) -> None:
    assert by(told(settings), "ledger_watermark_age_seconds", "cluster", organization="acme") == {}
    categorize_cluster(api.tenants.east.pk)
    found = told(settings)
    assert 0 <= by(found, "ledger_watermark_age_seconds", "cluster", organization="acme")["east"] < 60
    assert 0 < by(found, "ledger_count_duration_seconds", "cluster", organization="acme")["east"] < 60
    assert by(found, "ledger_refused_items", "cluster", organization="globex") == {"east": 0}
    assert by(found, "ledger_watermark_age_seconds", "cluster", organization="globex") == {}


def test_items_that_were_refused(api: Api, settings: Settings) -> None:
    body = batch(machines=[{"name": "m", "gpus": -1}, {"name": "n", "gpus": -1}])
    assert api.post(body, api.token("ingest")).status_code == 202
    assert by(told(settings), "ledger_refused_items", "cluster", organization="acme") == {"east": 2}


def test_a_source_that_fell_silent_and_one_whose_list_is_held_back(api: Api, settings: Settings) -> None:
    states = [{"run": "r", "worker": f"w-{k}", "at": instant(900), "phase": "running", "gpus": 1} for k in range(10)]
    lists = [("silent", 800, states), ("well", 60, states), ("held", 100, states), ("held", 30, [])]
    for source, ago, workers in lists:
        of_run = [{**state, "run": source} for state in workers]
        body = {"source": source, "sent_at": instant(ago), "complete": True, "workers": of_run}
        runs = [{"uid": source, "workspace": "vision"}]
        assert api.post({**body, "runs": runs}, api.token("ingest")).json()["refused"] == []
    found = told(settings)
    assert by(found, "ledger_source_stale", "source", organization="acme") == {"silent": 1, "well": 0, "held": 0}
    assert by(found, "ledger_workers_vanished", "source", organization="acme") == {"silent": 0, "well": 0, "held": 1}
    assert 800 <= by(found, "ledger_source_silence_seconds", "source", organization="acme")["silent"] < 860


def test_an_hour_without_a_count_shows(api: Api, settings: Settings) -> None:
    Cluster.objects.filter(pk=api.tenants.east.pk).update(counted_until=instant(3600))
    age = by(told(settings), "ledger_watermark_age_seconds", "cluster", organization="acme")["east"]
    assert 3600 <= age < 3660


def test_tasks_that_wait(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "queue_length", lambda: 7)
    assert by(told(settings), "ledger_queue_length", "queue") == {"celery": 7}
    monkeypatch.setattr(server, "queue_length", lambda: None)
    assert by(told(settings), "ledger_queue_length", "queue") == {}


def test_openmetrics(db: None, settings: Settings) -> None:
    settings.METRICS_TOKEN = TOKEN
    response = get(TOKEN, Accept="application/openmetrics-text;version=1.0.0")
    assert response["Content-Type"].startswith("application/openmetrics-text")
    told = samples(response.content.decode())
    assert {name for name, _ in told} == {"astraeus_threshold_alerts_firing"}, "nothing else without a cluster"
    assert set(told.values()) == {0}


def test_nobody_without_the_token(api: Api, settings: Settings) -> None:
    settings.METRICS_TOKEN = TOKEN
    for bearer in (None, "", "wrong", TOKEN + "x", TOKEN[:-1], api.token("metrics", "admin")):
        response = get(bearer)
        assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
        assert "ledger_" not in response.content.decode()
    assert Client().get("/metrics", headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401
    assert Client().get(f"/metrics?token={TOKEN}").status_code == 401


def test_without_the_setting_no_token_is_good(db: None, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    for bearer in (None, "", "None"):
        assert get(bearer).status_code == 401


def test_people(api: Api) -> None:
    admin = User.objects.create_user("admin")
    Administration.objects.create(user=admin, organization=api.tenants.acme)
    client = Client()
    client.force_login(admin)
    assert client.get("/metrics").status_code == 403
    client.force_login(User.objects.create_user("operator", is_staff=True))
    assert client.get("/metrics").status_code == 200
    User.objects.filter(username="operator").update(is_active=False)
    assert client.get("/metrics").status_code == 401


def test_other_methods(db: None) -> None:
    for method in (Client().post, Client().put, Client().delete):
        assert method("/metrics").status_code == 405
