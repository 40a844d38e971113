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
