"""Who sees which alerts: on the pages, in the interface, in the metrics; and what they may do about one."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from goodput_site import metrics as server
from ledger.models import Alert, Change, Cluster, Organization, Token, Workspace
from tests.dashboards.world import World, people
from tests.metrics.reading import by, samples

PATH = "/w/acme/vision/alerts"
DROP = {"held": 10, "productive": 4, "day_held": 240, "day_productive": 200}
pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db: None) -> World:
    """The people and places of the pages' world, without what happened in it."""
    acme, globex = (Organization.objects.create(name=name) for name in ("acme", "globex"))
    vision, speech, empty = (Workspace.objects.create(organization=acme, name=n) for n in ("vision", "speech", "empty"))
    hidden = Workspace.objects.create(organization=globex, name="hidden")
    people(vision, speech, empty, hidden)
    return World(0, 0, vision, speech, hidden, Cluster.objects.create(organization=acme, name="east"))


@pytest.fixture(autouse=True)
def quick(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def alert(cluster: Cluster, workspace: Workspace | None, rule: str = "goodput_drop", **more: Any) -> Alert:
    moment = "2026-10-01T13:00:00Z"
    name = workspace.name if workspace else "h100"
    detail = DROP if rule == "goodput_drop" else {"since": 1_790_000_000_000}
    fields = {"name": name, "hour": moment, "told_at": moment, "fired_at": moment, "detail": detail}
    return Alert.objects.create(cluster=cluster, workspace=workspace, rule=rule, subject=name, **fields | more)


@pytest.fixture
def alerts(world: World) -> dict[str, Alert]:
    theirs = Cluster.objects.create(organization=world.hidden.organization, name="theirs")
    return {
        "vision": alert(world.east, world.vision),
        "speech": alert(world.east, world.speech),
        "hidden": alert(theirs, world.hidden),
        "cluster": alert(world.east, None, pool="h100"),
        "over": alert(world.east, world.vision, "run_below_threshold", resolved_at="2026-10-02T13:00:00Z",
                      detail={"held": 10, "productive": 4, "least_milli": 850}),
    }  # fmt: skip


def as_somebody(who: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=who))
    return client


@pytest.mark.parametrize(
    ("who", "path", "sees"),
    [
        ("ana", PATH, {"vision", "over"}),
        ("adam", PATH, {"vision", "over", "cluster"}),
        ("olga", PATH, {"vision", "over", "cluster"}),
        ("sol", "/w/acme/speech/alerts", {"speech"}),
        ("eve", "/w/globex/hidden/alerts", {"hidden"}),
    ],
)
def test_the_page_shows_what_is_ones_own(alerts: dict[str, Alert], who: str, path: str, sees: set[str]) -> None:
    page = as_somebody(who).get(path).content.decode()
    words = {
        "vision": "workspace vision on east was 40.0 %", "speech": "workspace speech on east",
        "hidden": "workspace hidden on theirs", "cluster": "pool h100 of east",
        "over": "with a goodput of 40.0 %; it was to have at least 85.0 %",
    }  # fmt: skip
    assert {key for key, text in words.items() if text in page} == sees


def test_an_alert_is_first_on_the_goodput_page(alerts: dict[str, Alert]) -> None:
    page = as_somebody("ana").get("/w/acme/vision/goodput").content.decode()
    assert "1 alert firing" in page
    assert page.index("workspace vision on east was 40.0 %") < page.index("Nothing is stalled")
    assert "2 alerts firing" in as_somebody("adam").get("/w/acme/vision/goodput").content.decode()
    assert "pool h100 of east" in as_somebody("adam").get("/organizations/acme/clusters/east/goodput").content.decode()


@pytest.mark.parametrize(
    ("who", "which", "status"),
    [("ana", "vision", 302), ("adam", "vision", 302), ("adam", "cluster", 302), ("ana", "cluster", 404),
     ("ana", "speech", 404), ("ana", "hidden", 404)],
)  # fmt: skip
def test_who_sees_an_alert_may_acknowledge_it(alerts: dict[str, Alert], who: str, which: str, status: int) -> None:
    one = alerts[which]
    said = as_somebody(who).post(PATH, {"alert": one.pk, "action": "acknowledge"})
    assert said.status_code == status
    one.refresh_from_db()
    assert one.acknowledged_by == (who if status == 302 else "")


def test_the_first_who_knows_stays(alerts: dict[str, Alert]) -> None:
    for who in ("ana", "adam"):
        as_somebody(who).post(PATH, {"alert": alerts["vision"].pk, "action": "acknowledge"})
    assert "ana knows since" in as_somebody("adam").get(PATH).content.decode()


@pytest.mark.parametrize(("hours", "status"), [("8", 302), ("0", 302), ("9", 404), ("", 404), ("x", 404)])
def test_an_alert_is_silenced_for_some_hours(alerts: dict[str, Alert], hours: str, status: int) -> None:
    one = alerts["vision"]
    said = as_somebody("ana").post(PATH, {"alert": one.pk, "action": "silence", "hours": hours})
    assert said.status_code == status
    one.refresh_from_db()
    assert (one.silenced_until is not None) is (hours == "8")


def test_what_is_done_about_an_alert_stands_in_the_audit_log(alerts: dict[str, Alert]) -> None:
    one = alerts["vision"]
    for who, form in [
        ("ana", {"action": "acknowledge"}), ("adam", {"action": "acknowledge"}),
        ("ana", {"action": "silence", "hours": "8"}), ("adam", {"action": "silence", "hours": "0"}),
    ]:  # fmt: skip
        as_somebody(who).post(PATH, {"alert": one.pk, **form})
    of = {"cluster": "east", "workspace": "vision", "rule": one.rule, "name": one.name}
    kept = Change.objects.filter(what__startswith="alert").order_by("pk").values_list("actor", "what", "detail")
    assert list(kept) == [
        ("ana", "alert_acknowledged", of),
        ("ana", "alert_silenced", {**of, "hours": 8}),
        ("adam", "alert_silenced", {**of, "hours": 0}),
    ]
    assert set(Change.objects.filter(what__startswith="alert").values_list("organization", flat=True)) == {"acme"}


@pytest.mark.parametrize("form", [{}, {"alert": "1" * 30}, {"alert": "-1"}, {"alert": "²"}, {"action": "acknowledge"}])
def test_a_form_of_nothing_is_nothing(alerts: dict[str, Alert], form: dict[str, str]) -> None:
    assert as_somebody("ana").post(PATH, form).status_code == 404


@pytest.mark.parametrize("page", ["2", "0", "-1", "x", "9" * 30, "²"])
def test_any_page_can_be_asked_for(alerts: dict[str, Alert], page: str) -> None:
    assert as_somebody("ana").get(PATH, {"page": page}).status_code in (200, 302)


def test_the_number_of_queries_does_not_depend_on_the_alerts(
    alerts: dict[str, Alert], world: World, django_assert_max_num_queries: Any
) -> None:
    client = as_somebody("adam")
    with django_assert_max_num_queries(100) as few:
        client.get(PATH)
    for number in range(30):
        alert(world.east, world.vision, name=f"n{number}", hour=f"2026-09-01T{number % 24:02d}:{number:02d}:00Z",
              resolved_at="2026-10-02T13:00:00Z")  # fmt: skip
    with django_assert_max_num_queries(len(few)):
        client.get(PATH)


@pytest.mark.parametrize(
    ("of", "sees"),
    [("vision", {"vision", "run_below"}), ("acme", {"vision", "speech", "h100", "run_below"}), ("globex", {"hidden"})],
)
def test_the_interface(alerts: dict[str, Alert], world: World, of: str, sees: set[str]) -> None:
    organization = Organization.objects.get(name="globex" if of == "globex" else "acme")
    token = Token.issue(organization, world.vision if of == "vision" else None, ["read"])[1]
    answer = Client().get("/v1/alerts", headers={"Authorization": f"Bearer {token}"}).json()
    found = {one["name"] if one["state"] == "firing" else one["rule"][:9] for one in answer["alerts"]}
    assert found == sees
    assert answer["count"] == len(sees)
    states = [one["state"] for one in answer["alerts"]]
    assert states == sorted(states)


@pytest.mark.parametrize(
    ("query", "status", "count"),
    [("state=firing", 200, 1), ("state=resolved", 200, 1), ("rule=goodput_drop", 200, 1), ("limit=1", 200, 2),
     ("state=x", 400, 0), ("rule=x", 400, 0), ("limit=0", 400, 0), ("what=1", 400, 0)],
)  # fmt: skip
def test_the_interface_asked(alerts: dict[str, Alert], world: World, query: str, status: int, count: int) -> None:
    token = Token.issue(world.vision.organization, world.vision, ["read"])[1]
    said = Client().get(f"/v1/alerts?{query}", headers={"Authorization": f"Bearer {token}"})
    assert said.status_code == status
    if status == 200:
        assert said.json()["count"] == count
        assert (said.json()["next"] is not None) is (query == "limit=1")


def test_the_metrics_count_what_fires_by_rule(
    alerts: dict[str, Alert], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_TOKEN = "installation"
    monkeypatch.setattr(server, "queue_length", lambda: None)
    text = Client().get("/metrics", headers={"Authorization": "Bearer installation"}).content.decode()
    found = by(samples(text), "astraeus_threshold_alerts_firing", "metric")
    assert found == {
        "goodput_drop": 4, "source_stale": 0, "ledger_late": 0, "workers_vanished": 0, "run_below_threshold": 0,
        "prune_late": 0,
    }  # fmt: skip


def test_a_name_that_is_markup_is_text(world: World) -> None:
    alert(world.east, world.vision, name="<img src=x onerror=alert(1)>")
    page = as_somebody("ana").get(PATH).content.decode()
    assert "<img" not in page
    assert re.search("&lt;img src=x onerror=alert", page)
