"""All of an organization on one cluster, for who may see all of it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.models import Administration, Membership
from tests.api.conftest import Api
from tests.api.history import History
from tests.api.test_doors import everything
from tests.api.test_observations import problem

ACME_EAST = "organizations/acme/clusters/east/goodput"


def names(response: Any, key: str = "name") -> set[str]:
    assert response.status_code == 200, response.content
    return {row[key] for row in response.json()["rows"]}


def test_it_has_what_is_on_that_cluster_of_every_workspace(api: Api, history: History) -> None:
    ask = {"by": "run", **history.closed()}
    east = names(api.get(ACME_EAST, history.admin, **ask), "uid")
    west = names(api.get("organizations/acme/clusters/west/goodput", history.admin, **ask), "uid")
    both = names(api.get("goodput", api.token("read"), **ask), "uid")
    assert {"uid-llm", "uid-choir"} <= east
    assert {"uid-w-llm", "uid-w-choir"} <= west
    assert east | west == both
    assert not {uid for uid in both if uid.startswith("uid-f-")}
    assert names(api.get(ACME_EAST, history.admin, **history.closed())) == {"vision", "speech"}


def test_clusters_add_up_to_the_organization(api: Api, history: History) -> None:
    ask = {"unit": "gpu_us", **history.closed()}
    totals = [
        api.get(path, token, **ask).json()["total"]
        for path, token in (
            ("goodput", history.reader),
            (ACME_EAST, history.admin),
            ("organizations/acme/clusters/west/goodput", history.admin),
        )
    ]
    for figure in ("allocated_gpu_hours", "productive_gpu_hours", "waiting_gpu_hours", "unobserved_gpu_hours"):
        whole, east, west = (int(total[figure]) for total in totals)
        assert whole == east + west
        assert east != west


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
def test_the_filter_answers_what_the_cluster_does(api: Api, history: History, by: str) -> None:
    for window in (history.closed(), history.closed(5)):
        for kind in ("json", "csv"):
            ask = {"by": by, "unit": "gpu_us", "format": kind, "sort": "name", **window}
            for cluster in ("east", "west"):
                whole = api.get(f"organizations/acme/clusters/{cluster}/goodput", history.admin, **ask)
                filtered = api.get("goodput", history.reader, cluster=cluster, **ask)
                assert told(filtered) == told(whole)
    west = api.get("goodput", history.reader, cluster="west", by=by, **history.closed()).json()["rows"]
    assert {row["cluster"] for row in west if row.get("cluster")} == ({"west"} if by in ("machine", "pool") else set())


def told(answer: Any) -> Any:
    """An answer without the instant up to which it was counted."""
    assert answer.status_code == 200, answer.content
    if answer["Content-Type"].startswith("text/csv"):
        return answer.content
    return {key: value for key, value in answer.json().items() if key != "counted_until"}


def test_weeks_of_a_cluster_add_up_to_those_of_all(api: Api, history: History) -> None:
    def held(**only: str) -> list[int]:
        weeks = api.get("goodput/weekly", history.reader, weeks=3, by="pool", unit="gpu_us", **only).json()["weeks"]
        return [int(week["total"]["allocated_gpu_hours"]) for week in weeks[:-1]]

    both = [east + west for east, west in zip(held(cluster="east"), held(cluster="west"), strict=True)]
    assert held() == both
    assert held(cluster="nowhere") == [0, 0]


def test_a_cluster_beside_other_filters(api: Api, history: History) -> None:
    def uids(**only: str) -> set[str]:
        return names(api.get("goodput", history.reader, by="run", **only, **history.closed()), "uid")

    assert uids(cluster="west", run="w-llm") == {"uid-w-llm"}
    assert uids(cluster="east", run="w-llm") == set()
    assert uids(cluster="west", machine="gpu-4") < uids(machine="gpu-4")
    assert uids(cluster="west", workspace="speech") == uids(cluster="west", user="nobody") == set()
    assert uids(cluster="") == uids()
    assert uids(cluster="West") == uids(cluster="nowhere", workspace="vision") == set()
    problem(api.get(ACME_EAST, history.admin, cluster="east"), 400)


def test_who_sees_several_organizations_sees_the_clusters_of_a_name_in_each(api: Api, history: History) -> None:
    api.client.force_login(User.objects.create_user("operator", is_staff=True))
    east, everything_there = (
        names(api.client.get("/v1/goodput", {"by": "run", **only, **history.closed()}), "uid")
        for only in ({"cluster": "east"}, {})
    )
    assert {"uid-llm", "uid-f-llm"} <= east
    assert east == {uid for uid in everything_there if not uid.startswith("uid-w-")}


def test_weeks(api: Api, history: History) -> None:
    answer = api.get(f"{ACME_EAST}/weekly", history.admin, weeks=3, by="pool").json()
    assert len(answer["weeks"]) == 3
    assert {row["name"] for row in answer["weeks"][1]["rows"]} <= {"h100", "a100", "none"}


def test_what_there_is_not_answers_like_what_is_anothers(api: Api, history: History) -> None:
    for tail in ("goodput", "goodput/weekly"):
        answers = [
            everything(api.get(f"organizations/{organization}/clusters/{cluster}/{tail}", history.admin))
            for organization, cluster in (("globex", "east"), ("acme", "nowhere"), ("nobody", "east"), ("ACME", "east"))
        ]
        assert answers[0][0] == 404
        assert answers.count(answers[0]) == len(answers)


@pytest.mark.parametrize("scopes", [("read",), ("metrics",), ("ingest",)])
def test_other_scopes(api: Api, scopes: tuple[str, ...]) -> None:
    problem(api.get(ACME_EAST, api.token(*scopes)), 403)


def test_a_token_of_a_workspace_sees_no_cluster_and_cannot_tell_whether_there_is_one(api: Api) -> None:
    token = api.token("admin", workspace=api.tenants.vision)
    for path in (ACME_EAST, "organizations/globex/clusters/x/goodput"):
        assert "workspace" in problem(api.get(path, token), 403)


def test_people(api: Api, history: History) -> None:
    people = {name: User.objects.create_user(name) for name in ("member", "admin", "rival", "nobody")}
    people["operator"] = User.objects.create_user("operator", is_staff=True)
    Membership.objects.create(user=people["member"], workspace=api.tenants.vision)
    Administration.objects.create(user=people["admin"], organization=api.tenants.acme)
    Administration.objects.create(user=people["rival"], organization=api.tenants.globex)
    statuses = {}
    for name, person in people.items():
        client = Client()
        client.force_login(person)
        answer = client.get(f"/v1/{ACME_EAST}", {"by": "run", **history.closed()})
        statuses[name] = answer.status_code
        assert answer.status_code == 404 or "uid-choir" in names(answer, "uid")
    assert statuses == {"member": 404, "admin": 200, "rival": 404, "nobody": 404, "operator": 200}


def test_names_with_slashes(api: Api) -> None:
    api.tenants.acme.name, api.tenants.east.name = "acme/lab", "kubernetes/east"
    api.tenants.acme.save()
    api.tenants.east.save()
    path = "organizations/acme%2Flab/clusters/kubernetes%2Feast/goodput"
    assert api.get(path, api.token("admin")).status_code == 200
    assert api.get("clusters/kubernetes%2Feast/refused", api.token("admin")).status_code == 200
