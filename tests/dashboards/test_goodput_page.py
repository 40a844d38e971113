"""The Goodput page as it comes from the server: what it shows, and that every number is that of the queries."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboards.moments import clock, iso, moment
from dashboards.numbers import hours
from dashboards.rows import apart
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.categorizer import categorize
from ledger.core.totals import percent
from ledger.core.windows import DAY, HOUR, Window
from ledger.models import Cluster, Run
from ledger.queries import Answer
from tests.dashboards.conftest import GOODPUT, Get
from tests.dashboards.reading import cells, read, text_of
from tests.dashboards.world import CLOSING, MARKUP, World, more_runs

GROUPINGS = ("run", "machine", "pool", "workspace", "user")


def closed(world: World) -> dict[str, str]:
    """The query of two days that are closed, whose numbers stand still."""
    return {"start": iso(world.edge - 2 * DAY), "end": iso(world.edge)}


def asked(world: World, **more: Any) -> Answer:
    window = Window(world.edge - 2 * DAY, world.edge)
    return queries.goodput(scope_of_workspace(world.vision), window, **{"limit": None, **more})


@pytest.mark.parametrize("by", GROUPINGS)
def test_each_tab_shows_the_rows_and_the_total_of_its_query(world: World, get: Get, by: str) -> None:
    answer = asked(world, by=by)
    shown = cells(get(by=by, show="numbers", **closed(world)))
    assert [row[0] for row in shown[:-1]] == [
        row.name if row.name == "unplaced" else f"{row.name} {row.pool}".strip() for row in answer.rows
    ]
    for ledger, row in zip([*(r.ledger for r in answer.rows), answer.total], shown, strict=True):
        assert row[1:4] == [hours(ledger.allocated), hours(ledger.productive), percent(ledger.goodput)]
        losses = [*ledger.amounts[1:7], ledger.waiting, ledger.lost]
        assert row[4:] == [hours(amount) for amount in losses]


def test_the_figures_are_those_of_the_total(world: World, get: Get) -> None:
    total, page = asked(world).total, get(**closed(world))
    assert text_of(page, "figure-goodput").startswith(f"Goodput productive / held {percent(total.goodput)}")
    for key, amount in (
        ("held", total.allocated),
        ("productive", total.productive),
        ("lost", total.not_productive),
        ("waiting", total.waiting),
    ):
        assert f" {hours(amount)} GPU-hours" in text_of(page, f"figure-{key}")
    assert "most: idle 96.0" in text_of(page, "figure-lost")
    assert "of it to be placed again 32.0" in text_of(page, "figure-waiting")


def test_figures_change_against_the_period_before_where_that_was_counted(world: World, get: Get) -> None:
    page = get(start=iso(world.edge - 30 * HOUR), end=iso(world.edge - 15 * HOUR))
    scope = scope_of_workspace(world.vision)
    now = queries.goodput(scope, Window(world.edge - 30 * HOUR, world.edge - 15 * HOUR)).total
    before = queries.goodput(scope, Window(world.edge - 45 * HOUR, world.edge - 30 * HOUR)).total
    assert now.goodput
    assert before.goodput
    points = round((now.goodput - before.goodput) * 1000) / 10
    assert f"{abs(points)} points on the period before" in text_of(page, "figure-goodput")
    assert "before" not in text_of(get(**closed(world)), "figure-goodput")


def test_the_share_that_nobody_observed_stands_beside_goodput(world: World, get: Get) -> None:
    total = asked(world).total
    assert total.unobserved_productive
    assert total.allocated
    share = f"{100 * total.unobserved_productive / total.allocated:.1f} %"
    assert f"of it unobserved {share}" in text_of(get(**closed(world)), "figure-goodput")


def test_who_is_stalled_comes_first(world: World, get: Get) -> None:
    page = get()
    since = clock(world.now - 38 * 60_000)
    line = text_of(page, "now")
    assert line.startswith("Now 1 worker stalled 8 GPUs held without progress llm worker-3 gpu-4 since ")
    assert line.endswith(f"{since} UTC (38 min) step 1\u202f204 8 GPUs")
    assert page.content.index(b'id="now"') < page.content.index(b'id="figures"')
    assert text_of(get("/w/acme/speech/goodput", "sol"), "now") == "Now Nothing is stalled."


def test_the_page_says_how_far_it_is_counted_and_what_is_partial(world: World, get: Get) -> None:
    page = get()
    counted = page.context["answer"].counted_until
    assert f"counted until {clock(counted)} UTC" in text_of(page, "figures")
    assert "the running hour is partial" in text_of(page, "figures")
    past = text_of(get(**closed(world)), "figures")
    assert "the running hour is partial" not in past
    assert "not yet final" not in past
    Cluster.objects.update(final_to=moment(world.edge - HOUR))
    assert "not yet final" in text_of(get(**closed(world)), "figures")


def test_a_page_that_falls_behind_says_so(world: World, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Counting is behind" not in get().content.decode()
    later = queries.now() + 2 * HOUR
    monkeypatch.setattr(queries, "now", lambda: later)
    assert "Counting is behind: it stands at" in text_of(get(), "late")


# --- sorting, searching, narrowing, paging ---------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["name", "-held", "idle", "-waiting", "-goodput", "-failure"])
def test_rows_come_in_the_order_asked_for(world: World, get: Get, sort: str) -> None:
    shown = cells(get(sort=sort, **closed(world)))
    assert [row[0] for row in shown[:-1]] == [row.name for row in asked(world, by="run", sort=sort).rows]


def test_a_header_sorts_by_most_and_then_the_other_way(get: Get) -> None:
    def head(page: Any, name: str) -> tuple[str, str]:
        link = read(page).by_id(f"sort-{name}")
        assert link.parent
        return link.parent.attributes["aria-sort"], link.attributes["href"]

    assert head(get(), "held") == ("none", "?sort=-held")
    assert head(get(), "lost") == ("descending", "?sort=lost")
    assert head(get(sort="-held"), "held") == ("descending", "?sort=held")
    assert head(get(sort="held"), "held") == ("ascending", "?sort=-held")
    assert head(get(), "name") == ("none", "?sort=name")
    assert head(get(sort="name"), "name") == ("ascending", "?sort=-name")


def test_sorting_by_a_category_shows_its_column(world: World, get: Get) -> None:
    page = get(sort="-idle", **closed(world))
    assert cells(page)[0][-2:] == ["96.0", hours(asked(world, by="run", sort="-idle").rows[0].ledger.lost)]


def test_a_search_thins_the_rows_out_and_leaves_the_figures(world: World, get: Get) -> None:
    page = get(q="SWEEP-00", **closed(world))
    shown = cells(page)
    assert sorted(row[0] for row in shown) == ["Total", "sweep-000", "sweep-001", "sweep-002"]
    assert shown[-1][1] == hours(asked(world, by="run", filters=queries.Filters(q="sweep-00")).total.allocated)
    assert f" {hours(asked(world).total.allocated)} GPU-hours" in text_of(page, "figure-held")


def test_rows_lead_to_what_they_are_made_of(world: World, get: Get) -> None:
    page = read(get(by="machine", **closed(world)))
    (link,) = [a for a in page.by_id("rows").of("a") if a.text == "gpu-1" and "id" in a.attributes]
    deeper = get(link.attributes["href"])
    assert deeper.context["name"] == "gpu-1"
    assert [row[0] for row in cells(deeper)] == ["llm", "Total"]
    assert cells(deeper)[-1][1] == hours(asked(world, filters=queries.Filters(machine="gpu-1")).total.allocated)


def test_runs_and_stalled_runs_lead_to_their_pages(world: World, get: Get) -> None:
    page = read(get(**closed(world)))
    links = [a.attributes["href"] for part in ("rows", "now") for a in page.by_id(part).of("a") if a.text == "llm"]
    assert links == ["/w/acme/vision/runs/uid-llm"] * 2
    assert get(links[0]).status_code == 200


def test_runs_of_one_name_are_told_apart_by_their_uid(world: World, get: Get) -> None:
    Run.objects.filter(uid="uid-sweep-000").update(name="llm")
    names = {row[0] for row in cells(get(**closed(world)))}
    assert {"llm uid-llm", "llm uid-sweep-00"} <= names


@pytest.mark.parametrize(
    ("uids", "shown"),
    [
        (["8c1f0000-aaaa", "9d2e0000-bbbb"], ["8c1f0000-aaa", "9d2e0000-bbb"]),
        (["philly-150836_1", "philly-150836_2"], ["…lly-150836_1", "…lly-150836_2"]),
        (["begins-alike-1-and-ends-alike", "begins-alike-2-and-ends-alike"],) * 2,
        (["short", "shorter"], ["short", "shorter"]),
    ],
)  # fmt: skip
def test_what_is_shown_of_uids_is_of_one_run(uids: list[str], shown: list[str]) -> None:
    assert [apart(uid, uids) for uid in uids] == shown


def test_nothing_found_says_how_to_go_on(world: World, get: Get) -> None:
    nothing = get(q="no such run")
    assert "No run matches “no such run”" in nothing.content.decode()
    assert ">Show every run</a>" in nothing.content.decode()
    before = read(get(start="2020-01-01", end="2020-01-02")).by_id("nothing")
    assert "No GPU was asked for in these hours." in before.text
    (everything,) = before.of("a")
    assert cells(get(GOODPUT + everything.attributes["href"]))[-1][0] == "Total"


def test_a_bad_query_is_answered_with_a_sentence_and_the_usual_page(get: Get) -> None:
    page = get(by="planet", start="soon")
    assert page.status_code == 400
    assert "“planet” is not a value of by" in page.content.decode()
    assert "“soon” is not a time" in page.content.decode()
    assert cells(page)[-1][0] == "Total"


def test_htmx_gets_the_living_part_alone(world: World, get: Get) -> None:
    client = Client(headers={"HX-Request": "true"})
    client.force_login(User.objects.get(username="ana"))
    part = client.get(GOODPUT, {"by": "pool"}).content.decode()
    assert part.lstrip().startswith("<title>Goodput · vision · acme</title>")
    assert part.count("<main") == 1
    assert "<html" not in part
    assert '<nav class="menu"' not in part


def test_names_are_shown_as_they_are_and_never_as_markup(world: World, get: Get) -> None:
    for by in GROUPINGS:
        for show in ("bars", "numbers"):
            text = get(by=by, show=show, q="").content.decode()
            assert "<img src=x" not in text
            assert "</script></table>" not in text
    found = get(by="machine", machine=MARKUP, q=CLOSING).content.decode()
    assert "&lt;img src=x onerror=&quot;document.title" in found
    assert "<img src=x" not in found


# --- effort -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", GROUPINGS)
def test_the_number_of_queries_does_not_depend_on_the_rows(world: World, get: Get, by: str) -> None:
    get()

    def counted() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as captured:
            page = get(by=by)
        return len(captured), len(page.context["rows"])

    categorize(world.east)
    few, rows = counted()
    more_runs(world, 60)
    categorize(world.east)
    many, more = counted()
    assert few == many <= 12
    assert more == 50 if by == "run" else more >= rows


def test_pages_have_fifty_rows_and_one_total(world: World, get: Get) -> None:
    more_runs(world, 60)
    answer = asked(world, by="run")
    first, second = get(**closed(world)), get(page="2", **closed(world))
    names = [row[0] for page in (first, second) for row in cells(page)[:-1]]
    assert names == [row.name for row in answer.rows]
    assert len(cells(first)) == 51
    assert cells(first)[-1][1:] == cells(second)[-1][1:]
    assert cells(first)[-1][:2] == [f"Total of all {answer.count}", hours(answer.total.allocated)]
    assert f"1–50 of {answer.count}" in first.content.decode()
    assert f"51–{answer.count} of {answer.count}" in second.content.decode()
    beyond = get(page="9", **closed(world))
    assert beyond.status_code == 302
    assert beyond["Location"].endswith("page=2")
