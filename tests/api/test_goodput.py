"""Ledgers out: whose they are, which window they are of, and how their figures are written."""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.contrib.auth.models import User

from ledger import queries
from ledger.access import scope_of_organization
from ledger.api.reading import LIMIT_MAX, OFFSET_MAX
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.core.windows import DAY, HOUR, MAX_DAYS, Window
from ledger.decode.values import instant, iso
from ledger.models import Administration, Membership, Run, Workspace
from ledger.writing.figures import decimal, in_hours, thousandths
from ledger.writing.ledgers import ledger
from tests.api.conftest import Api, Tenants
from tests.api.conftest import instant as ago
from tests.api.history import History
from tests.api.test_observations import problem

FIGURES = [
    "gpu_hours",
    "allocated_gpu_hours",
    "productive_gpu_hours",
    "lost_gpu_hours",
    "waiting_gpu_hours",
    "goodput",
    "held_gpu_hours",
    "unobserved_gpu_hours",
    "unobserved_productive_gpu_hours",
    "biggest_loss",
]
LABELS = [category.label for category in Category]
ENVELOPE = ["start", "end", "by", "counted_until", "complete", "rows", "total", "next"]


def run_for_an_hour(api: Api, uid: str, workspace: Workspace, gpus: float, **labels: Any) -> None:
    """A run that waited for 30 minutes, held its GPUs for an hour, busy for 20 minutes of it, and ended long ago."""
    start = 6 * 3600
    worker = {"run": uid, "worker": "w"}
    body = {
        "source": "test",
        "sent_at": ago(0),
        "runs": [{"uid": uid, "name": f"name-of-{uid}", "workspace": workspace.name, **labels}],
        "machines": [{"name": f"machine-of-{uid}", "pool": "h100"}],
        "workers": [
            {**worker, "at": ago(start + 1800), "phase": "pending", "gpus": gpus},
            {**worker, "at": ago(start), "phase": "running", "machine": f"machine-of-{uid}"},
            {**worker, "at": ago(start - 3600), "phase": "ended"},
        ],
        "readings": [
            {**worker, "at": ago(start), "gpu_busy": 90},
            {**worker, "at": ago(start - 1200), "gpu_busy": 1},
        ],
    }
    answer = api.post(body, api.token("ingest", of=workspace.organization))
    assert answer.status_code == 202
    assert answer.json()["refused"] == []


@pytest.fixture
def told(api: Api) -> Api:
    """An interface whose organization has a run in each of two workspaces; and so has somebody else's."""
    run_for_an_hour(api, "a", api.tenants.vision, 8, user="ana")
    run_for_an_hour(api, "b", api.tenants.speech, 1.5, user="ben")
    run_for_an_hour(api, "x", api.tenants.foreign, 100, user="ana")
    return api


def goodput(api: Api, token: str | None = None, **query: Any) -> dict[str, Any]:
    response = api.get("goodput", token or api.token("read"), **query)
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    answer: dict[str, Any] = json.loads(response.content, parse_float=Decimal)
    return answer


def near(figure: Any, hours: float) -> bool:
    """The instants of a test are told one after another, some milliseconds apart."""
    return abs(float(figure) - hours) < 0.01


def test_the_form_of_an_answer(told: Api) -> None:
    answer = goodput(told, by="run", sort="-held")
    assert [key for key in answer if key != "revised_at"] == ENVELOPE
    assert (answer["by"], answer["complete"], answer["next"]) == ("run", False, None)
    row = answer["rows"][0]
    assert list(row) == ["name", "uid", "workspace", *FIGURES]
    assert (row["name"], row["uid"], row["workspace"]) == ("name-of-a", "a", "vision")
    assert list(answer["total"]) == FIGURES
    assert list(row["gpu_hours"]) == list(row["held_gpu_hours"]) == LABELS
    assert near(row["allocated_gpu_hours"], 8)
    assert near(row["waiting_gpu_hours"], 4)
    assert near(row["productive_gpu_hours"], 8 / 3)
    assert near(row["lost_gpu_hours"], 12 - 8 / 3)
    assert near(row["gpu_hours"]["idle"], 16 / 3)
    assert near(row["goodput"], 1 / 3)
    assert row["biggest_loss"] == "idle"


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
def test_every_grouping_has_the_same_total(told: Api, by: str) -> None:
    answer = goodput(told, by=by, unit="gpu_us")
    for figure in FIGURES:
        if figure in ("goodput", "biggest_loss"):
            continue
        values = [row[figure] for row in answer["rows"]]
        if isinstance(values[0], dict):
            for label in LABELS:
                assert sum(int(value[label]) for value in values) == int(answer["total"][figure][label])
        else:
            assert sum(map(int, values)) == int(answer["total"][figure])
    names = {row["name"] for row in answer["rows"]}
    assert (
        names
        == {
            "workspace": {"vision", "speech"},
            "run": {"name-of-a", "name-of-b"},
            "machine": {"machine-of-a", "machine-of-b", "unplaced"},
            "pool": {"h100", "none"},
            "user": {"ana", "ben"},
        }[by]
    )
    if by == "machine":
        assert list(answer["rows"][0]) == ["name", "pool", "cluster", *FIGURES]
        held = [row for row in answer["rows"] if row["name"] == "unplaced"]
        assert "goodput" not in held[0]


def test_who_is_called_none_and_nobody_are_one_row(told: Api) -> None:
    Run.objects.filter(user="ana").update(user="none")
    Run.objects.filter(user="ben").update(user="")
    answer = goodput(told, by="user", unit="gpu_us", user="none", q="none")
    (row,) = answer["rows"]
    assert row == {"name": "none", **answer["total"]}


def test_exact_amounts_are_texts_and_say_the_same(told: Api) -> None:
    start = iso(instant(ago(7 * 3600)) // HOUR * HOUR)
    end = iso(instant(ago(4 * 3600)) // HOUR * HOUR)
    hours = goodput(told, start=start, end=end)["total"]
    exact = goodput(told, start=start, end=end, unit="gpu_us")["total"]
    assert list(exact) == list(hours)
    for figure in ("allocated_gpu_hours", "productive_gpu_hours", "lost_gpu_hours", "waiting_gpu_hours"):
        assert isinstance(exact[figure], str)
        assert Decimal(exact[figure]) / 3_600_000_000 == pytest.approx(hours[figure], abs=Decimal("0.0000005"))
    assert exact["goodput"] == hours["goodput"]
    assert sum(map(int, exact["gpu_hours"].values())) == int(exact["lost_gpu_hours"]) + int(
        exact["productive_gpu_hours"]
    )


def test_figures_are_printed_from_integers() -> None:
    third = Ledger((0, 0, 0, 0, 0, 0, 0, 1), (0,) * 8)
    assert json.loads(bytes(in_hours(1_200_000_000)), parse_float=str) == "0.333333"
    big = 10**18 + 1_800
    assert bytes(in_hours(big)) == b"277777777.777778"
    assert bytes(in_hours(3_600_000_000 * 10**12 + 3_600)) == b"1000000000000.000001"
    assert bytes(decimal(Fraction(2, 3))) == b"0.666667"
    assert bytes(decimal(Fraction(1))) == b"1.000000"
    assert "goodput" not in ledger(third, str)
    assert ledger(third, str)["waiting_gpu_hours"] == "1"
    assert ledger(Ledger(), str)["biggest_loss"] is None


def test_figures_below_zero_are_the_mirror_of_those_above() -> None:
    for part in (1, 2, 6, 10, 6_000_000, 4_000_001):
        above, below = (bytes(decimal(Fraction(sign * part, 4_000_000))).decode() for sign in (1, -1))
        assert below == (f"-{above}" if Decimal(above) else above)
    assert bytes(decimal(Fraction(-3, 2))) == b"-1.500000"
    assert b" ".join(bytes(thousandths(milli)) for milli in (8_000, 142, 0, -7_500, 10_000)) == b"8 0.142 0 -7.5 10"


def test_filters_and_search(told: Api) -> None:
    def names(**query: Any) -> list[str]:
        return [row["name"] for row in goodput(told, by="run", sort="name", **query)["rows"]]

    assert names() == ["name-of-a", "name-of-b"]
    assert names(workspace="vision") == ["name-of-a"]
    assert names(run="b") == names(run="name-of-b") == ["name-of-b"]
    assert names(machine="machine-of-a") == ["name-of-a"]
    assert names(user="ben") == ["name-of-b"]
    assert names(pool="h100") == ["name-of-a", "name-of-b"]
    assert names(q="OF-B") == ["name-of-b"]
    assert names(workspace="") == ["name-of-a", "name-of-b"]
    for foreign in ({"run": "x"}, {"run": "name-of-x"}, {"machine": "machine-of-x"}, {"workspace": "Vision"}):
        assert names(**foreign) == names(**dict.fromkeys(foreign, "never-heard-of")) == []


@pytest.mark.parametrize("by", ["workspace", "run", "machine", "pool", "user"])
def test_goodputs_stand_in_their_order(history: History, by: str) -> None:
    def sorted_by(sort: str) -> list[Fraction | None]:
        scope = scope_of_organization(history.tenants.acme)
        found = queries.goodput(scope, Window(history.edge - 20 * DAY, history.edge), by, sort=sort, limit=None)
        of = [row.ledger for row in found.rows]
        return [Fraction(ledger.productive, ledger.allocated) if ledger.allocated else None for ledger in of]

    up = [goodput for goodput in sorted_by("goodput") if goodput is not None]
    assert up == sorted(up)
    assert len(set(up)) > 1
    assert sorted_by("-goodput")[: len(up)] == up[::-1]


@pytest.mark.parametrize("sort", ["name", "held", "productive", "goodput", "lost", "waiting", "idle", "preemption"])
def test_sorting(told: Api, sort: str) -> None:
    up = [row["name"] for row in goodput(told, by="run", sort=sort)["rows"]]
    assert sorted(up) == ["name-of-a", "name-of-b"]
    if sort == "name":
        assert up == ["name-of-a", "name-of-b"]
    if sort in ("held", "productive", "lost", "waiting", "idle"):
        assert up == ["name-of-b", "name-of-a"]
        assert [row["name"] for row in goodput(told, by="run", sort=f"-{sort}")["rows"]] == up[::-1]


def test_pages_have_one_total_and_one_window(told: Api) -> None:
    token = told.token("read")
    whole = goodput(told, token, by="run", sort="name", days=2)
    page = goodput(told, token, by="run", sort="name", days=2, limit=1)
    assert [row["name"] for row in page["rows"]] == ["name-of-a"]
    assert page["next"].startswith("http://testserver/v1/goodput?")
    last = told.client.get(page["next"], headers={"Authorization": f"Bearer {token}"}).json()
    assert [row["name"] for row in last["rows"]] == ["name-of-b"]
    assert last["next"] is None
    for answer in (page, last):
        assert (answer["start"], answer["end"]) == (whole["start"], whole["end"])
        assert float(answer["total"]["lost_gpu_hours"]) == float(whole["total"]["lost_gpu_hours"])


def test_windows_are_floored_and_ceiled_to_the_hour(told: Api) -> None:
    answer = goodput(told, start="2026-01-02T03:59:59.999+01:00", end="2026-01-02T05:00:00.001Z")
    assert (answer["start"], answer["end"]) == ("2026-01-02T02:00:00Z", "2026-01-02T06:00:00Z")
    answer = goodput(told, start="2026-01-02T03:00:00Z", end="2026-01-02T05:00:00Z")
    assert (answer["start"], answer["end"]) == ("2026-01-02T03:00:00Z", "2026-01-02T05:00:00Z")


def test_relative_windows(told: Api) -> None:
    for query, length in (({}, 7 * DAY), ({"days": 1}, DAY), ({"days": MAX_DAYS}, MAX_DAYS * DAY)):
        answer = goodput(told, **query)
        assert instant(answer["end"]) - instant(answer["start"]) == length
        assert instant(answer["end"]) - instant(answer["counted_until"]) <= HOUR
    week = goodput(told, weeks=2)
    assert instant(week["start"]) % (7 * DAY) == 4 * DAY  # a Monday, as the epoch was a Thursday
    assert 7 * DAY < instant(week["end"]) - instant(week["start"]) <= 14 * DAY
    assert goodput(told, weeks=57)
    since = goodput(told, start=ago(2 * 3600))
    assert 2 * HOUR <= instant(since["end"]) - instant(since["start"]) <= 4 * HOUR


def test_400_days_and_one_hour_more(told: Api) -> None:
    token = told.token("read")
    goodput(told, token, start="2025-01-01T00:00:00Z", end="2026-02-05T00:00:00Z")
    detail = problem(told.get("goodput", token, start="2025-01-01T00:00:00Z", end="2026-02-05T00:00:00.001Z"), 400)
    assert "400 days" in detail


@pytest.mark.parametrize(
    "query",
    [
        {"by": "gpu"},
        {"by": ""},
        {"sort": "lost,held"},
        {"sort": "--lost"},
        {"unit": "seconds"},
        {"limit": 0},
        {"limit": LIMIT_MAX + 1},
        {"limit": "1e2"},
        {"limit": "٣"},
        {"offset": -1},
        {"offset": OFFSET_MAX + 1},
        {"days": 0},
        {"days": 401},
        {"days": 1.5},
        {"weeks": 0},
        {"weeks": 58},
        {"days": 7, "weeks": 1},
        {"days": 7, "start": "2026-01-02T03:00:00Z"},
        {"start": "2026-01-02T03:00:00"},
        {"start": "2026-01-02"},
        {"start": "yesterday"},
        {"start": ""},
        {"start": "2026-01-02T03:00:00Z", "end": "2026-01-02T03:00:00Z"},
        {"start": "2026-01-02T03:00:00Z", "end": "2026-01-01T03:00:00Z"},
        {"start": "2100-01-02T03:00:00Z"},
        {"end": "2026-01-02T03:00:00Z"},
        {"run": "a\0b"},
        {"q": "n" * 254},
        {"dayz": 7},
        {"format": "xml"},
        {"by": ["run", "pool"]},
    ],
)
def test_questions_that_cannot_be_answered(api: Api, query: dict[str, Any]) -> None:
    assert problem(api.get("goodput", api.token("read"), **query), 400).endswith(".")


def test_limits_of_paging(told: Api) -> None:
    assert goodput(told, limit=LIMIT_MAX, q="n" * 253)["rows"] == []
    assert goodput(told, limit=1, offset=OFFSET_MAX)["rows"] == []


def names_seen(api: Api, token: str | None) -> set[str]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    response = api.client.get("/v1/goodput?by=run", headers=headers)
    assert response.status_code == 200
    return {row["uid"] for row in response.json()["rows"]}


def test_a_token_sees_its_workspace_or_all_of_its_organization(told: Api) -> None:
    tenants = told.tenants
    assert names_seen(told, told.token("read")) == {"a", "b"}
    assert names_seen(told, told.token("read", workspace=tenants.vision)) == {"a"}
    assert names_seen(told, told.token("read", workspace=tenants.speech)) == {"b"}
    assert names_seen(told, told.token("read", of=tenants.globex)) == {"x"}
    for workspace, unseen in ((tenants.vision, "b"), (tenants.foreign, "a")):
        token = told.token("read", workspace=workspace)
        for by in ("workspace", "run", "machine", "pool", "user"):
            page = told.client.get(f"/v1/goodput?by={by}", headers={"Authorization": f"Bearer {token}"})
            assert f"of-{unseen}" not in page.content.decode()


def test_a_person_sees_what_is_theirs_and_no_longer_than_it_is(told: Api) -> None:
    people = {name: User.objects.create_user(name) for name in ("member", "admin", "nobody")}
    operator = User.objects.create_user("operator", is_staff=True)
    membership = Membership.objects.create(user=people["member"], workspace=told.tenants.vision)
    administration = Administration.objects.create(user=people["admin"], organization=told.tenants.acme)
    for person, seen in (
        (people["member"], {"a"}),
        (people["admin"], {"a", "b"}),
        (people["nobody"], set()),
        (operator, {"a", "b", "x"}),
    ):
        told.client.force_login(person)
        assert names_seen(told, None) == seen

    told.client.force_login(people["member"])
    membership.delete()
    assert names_seen(told, None) == set()
    told.client.force_login(people["admin"])
    administration.delete()
    assert names_seen(told, None) == set()
    User.objects.filter(username="admin").update(is_active=False)
    assert told.client.get("/v1/goodput").status_code == 401


def test_nobody(tenants: Tenants, api: Api) -> None:
    problem(api.client.get("/v1/goodput"), 401)
