"""What may not be seen answers exactly like what is not there, and nothing is let in by a side door."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.api.problems import NOT_FOUND
from ledger.models import Administration, Membership
from tests.api.conftest import Api, instant
from tests.api.test_observations import batch, problem

HOSTILE = [
    "west",
    "EAST",
    "east ",
    "%2e%2e",
    "..",
    "e%00st",
    "east%0a",
    "e\u0430st",
    "n" * 254,
    "%ff",
    "east;",
    "%E2%80%A8",
]


def everything(response: Any) -> tuple[Any, ...]:
    return response.status_code, response.content, sorted(response.headers.items())


def test_a_foreign_cluster_answers_like_one_that_there_is_not(api: Api) -> None:
    api.tenants.foreign_east.name = "theirs"
    api.tenants.foreign_east.save()
    token = api.token("ingest", "admin")
    for ask in (
        lambda cluster: api.get(f"clusters/{cluster}/refused", token),
        lambda cluster: api.post(batch(), token, cluster),
        lambda cluster: api.post(b"not json", token, cluster, content_type="text/plain"),
    ):
        foreign, unknown = ask("theirs"), ask("nowhere")
        assert foreign.status_code == 404
        assert everything(foreign) == everything(unknown)
        assert foreign.json()["detail"] == NOT_FOUND


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_addresses_are_exact(api: Api, name: str) -> None:
    token = api.token("ingest", "admin")
    assert api.get("clusters/east/refused", token).status_code == 200
    problem(api.get(f"clusters/{name}/refused", token), 404)


def test_names_in_addresses_are_compared_in_nfc(api: Api) -> None:
    api.tenants.east.name = "caf\u00e9"
    api.tenants.east.save()
    token = api.token("admin")
    for name in ("caf%C3%A9", "cafe%CC%81"):
        assert api.get(f"clusters/{name}/refused", token).status_code == 200


def test_the_same_cluster_name_is_ones_own(api: Api) -> None:
    theirs = api.token("ingest", of=api.tenants.globex)
    api.post(batch(machines=[{"name": "m", "gpus": -1}]), theirs)
    assert len(api.get("clusters/east/refused", theirs).json()["refused"]) == 1
    assert api.get("clusters/east/refused", api.token("admin")).json() == {"refused": [], "next": None}


def test_a_token_of_a_workspace_writes_to_it_alone_and_reads_no_refused_items(api: Api) -> None:
    tenants = api.tenants
    vision = api.token("ingest", "admin", workspace=tenants.vision)
    mine = {"uid": "mine", "workspace": "vision"}
    api.post(batch(runs=[{"uid": "theirs", "workspace": "speech"}]), api.token("ingest"))
    worker = {"worker": "w", "at": instant(60), "phase": "running", "gpus": 1}
    body = batch(
        runs=[mine, {"uid": "other", "workspace": "speech"}],
        workers=[{**worker, "run": uid} for uid in ("mine", "theirs", "never-heard-of")],
    )
    refused = api.post(body, vision).json()["refused"]
    assert {(item["list"], item["index"]) for item in refused} == {("runs", 1), ("workers", 1), ("workers", 2)}
    foreign, unknown = (item for item in refused if item["list"] == "workers")
    assert {**foreign, "index": 0} == {**unknown, "index": 0}
    for cluster in ("east", "nowhere"):
        problem(api.get(f"clusters/{cluster}/refused", vision), 403)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "x",
        "goodput/",
        "goodput/weekly/",
        "runs/",
        "organizations/acme",
        "clusters",
        "clusters/east",
        "schema/",
        "%00",
        "a" * 5000,
    ],
)
def test_addresses_that_there_are_not(api: Api, path: str) -> None:
    for token in (None, api.token("read", "admin")):
        assert problem(api.get(path, token), 404) == NOT_FOUND
    assert api.client.delete(f"/v1/{path}").status_code == 404


@pytest.mark.parametrize("name", ["token", "access_token", "Token", "api_key"])
def test_a_token_in_the_address_is_refused_also_when_it_is_good(
    api: Api, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    token = api.token("read", "ingest")
    answers = [
        api.client.get(f"/v1/goodput?{name}={token}"),
        api.get(f"goodput?{name}={token}", token),
        api.client.post(f"/v1/clusters/east/observations?{name}={token}", {}, content_type="application/json"),
    ]
    for answer in answers:
        assert "Authorization header" in problem(answer, 400)
        assert token not in answer.content.decode()
    assert token not in caplog.text


def test_a_session_reads_and_does_not_write(api: Api) -> None:
    user = User.objects.create_user("ana")
    Membership.objects.create(user=user, workspace=api.tenants.vision)
    Administration.objects.create(user=user, organization=api.tenants.acme)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user)
    assert strict.get("/v1/goodput").status_code == 200
    for method in (strict.post, strict.put, strict.delete):
        assert method("/v1/goodput").status_code in (403, 405)
    strict.cookies["csrftoken"] = "x" * 32
    answer = strict.post(
        "/v1/clusters/east/observations", batch(), content_type="application/json", headers={"X-CSRFToken": "x" * 32}
    )
    problem(answer, 401)
    problem(strict.get("/v1/clusters/east/refused"), 401)


def test_a_wrong_token_is_not_made_good_by_a_session(api: Api) -> None:
    user = User.objects.create_user("ana", is_staff=True)
    api.client.force_login(user)
    problem(api.get("goodput", "goodput_wrong"), 401)


def test_head_is_get_without_a_body(api: Api) -> None:
    answer = api.client.head("/v1/goodput", headers={"Authorization": f"Bearer {api.token('read')}"})
    assert (answer.status_code, answer.content) == (200, b"")


def test_any_accept_header_gets_json(api: Api) -> None:
    for accept in ("text/html", "application/xml", "*/*", "", "nonsense"):
        answer = api.client.get(
            "/v1/goodput", headers={"Authorization": f"Bearer {api.token('read')}", "Accept": accept}
        )
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
