"""The pages of machines and pools: which costs most, its hours, what went wrong on it, and who sees what of it."""

import re

import pytest
from django.db.models import F
from django.db.models.functions import Coalesce

from dashboards.filters import shown
from dashboards.heat import DAYS_MAX, heat, shade
from dashboards.numbers import hours
from dashboards.places import Place
from ledger import queries
from ledger.access import scope_of_organization, scope_of_workspace
from ledger.batches import Batch, MachineItem
from ledger.categorizer import categorize
from ledger.core.categories import Phase
from ledger.core.parts import named, part
from ledger.core.totals import GPU_US_PER_HOUR, Ledger
from ledger.core.windows import DAY, HOUR, Window, floor_day
from ledger.ingest import ingest
from ledger.models import DayPool
from ledger.queries import Filters
from tests.dashboards.conftest import Get
from tests.dashboards.reading import cells, read, text_of
from tests.dashboards.test_goodput_page import closed
from tests.dashboards.world import CLOSING, MARKUP, MINUTE, World, run, state

ROOM = "/w/acme/vision"
EAST = "/organizations/acme/clusters/east"


def window(world: World) -> Window:
    return Window(world.edge - 2 * DAY, world.edge)


def shared(world: World, name: str = "sonata", gpus_milli: int = 4000) -> None:
    """Let a run of another workspace hold four GPUs of gpu-5 for three hours; one that failed."""
    batch = Batch("test/east", world.now, seen_from=world.edge - 2 * DAY)
    run(batch, name, "sol", world.edge - 9 * HOUR, workspace="speech")
    where = {"machine": "gpu-5", "pool": "h100", "gpus_milli": gpus_milli}
    state(batch, name, "worker-0", world.edge - 9 * HOUR, Phase.RUNNING, **where)
    state(batch, name, "worker-0", world.edge - 8 * HOUR, Phase.FAILED, reason="gpu_fault")
    state(batch, name, "worker-0", world.edge - 6 * HOUR, Phase.ENDED)
    assert ingest(world.east, batch).refused == []


def test_the_list_begins_with_the_machine_that_costs_most(world: World, get: Get) -> None:
    page = get(f"{ROOM}/machines", **closed(world))
    found = queries.goodput(scope_of_workspace(world.vision), window(world), "machine").rows
    assert [row[0].split(" ")[0] for row in cells(page)] == [row.name.split(" ")[0] for row in found]
    assert page.context["menu"].entries[3].here
    failed = {row[0].split(" ")[0]: row[3] for row in cells(page)}
    assert failed["gpu-1"] == "1"
    assert failed["unplaced"] == "–"
    (link,) = [a for a in read(page).by_id("rows").of("a") if a.text == "gpu-2" and "id" in a.attributes]
    assert get(link.attributes["href"]).context["name"] == "gpu-2"


def test_a_machine_s_page_has_its_ledger_and_its_hours(world: World, get: Get) -> None:
    page = get(f"{ROOM}/machines/gpu-1", **closed(world))
    whole = queries.goodput(scope_of_workspace(world.vision), window(world), filters=Filters(machine="gpu-1")).total
    assert f" {hours(whole.allocated)} GPU-hours" in text_of(page, "figure-held")
    assert [row[0] for row in cells(page)] == ["llm", "Total"]
    by_hour = queries.hourly(scope_of_workspace(world.vision), window(world), Filters(machine="gpu-1"))
    assert sum(told.ledger.allocated for told in by_hour) == whole.allocated
    told = page.context["heat"].told.split(",")
    assert sum(1 for hour in told if hour) == len([1 for told in by_hour if told.ledger.allocated])
    table = read(page).by_id("heat-table")
    assert len(table.of("tr")) == len(page.context["heat"].days) + 1
    assert table.of("tr")[1].of("td")[0].text == page.context["heat"].days[0].held


@pytest.mark.parametrize("only", [
    {}, {"machine": "gpu-5"}, {"machine": "unplaced"}, {"machine": "unknown"}, {"pool": "h100"}, {"user": "bo"},
    {"user": "none"}, {"run": "llm"}, {"uid": "uid-llm"}, {"run": "llm", "machine": "unplaced"},
    {"run": "llm", "machine": "gpu-1"},
    {"pool": "h100", "user": "ana"}, {"run": "nope"}, {"machine": "nope"}, {"workspace": "vision", "pool": "none"},
    {"cluster": "east"}, {"cluster": "east", "machine": "gpu-1"}, {"cluster": "nope"},
])  # fmt: skip
@pytest.mark.parametrize("is_rolled_up", [False, True])
def test_the_hours_add_up_to_the_window(world: World, only: dict[str, str], is_rolled_up: bool) -> None:
    if is_rolled_up:
        categorize(world.east)
    filters, scope = Filters(**only), scope_of_workspace(world.vision)
    hourly = queries.hourly(scope, window(world), filters)
    total = sum((told.ledger for told in hourly), Ledger())
    assert total == queries.goodput(scope, window(world), filters=filters).total
    assert queries.total(scope, window(world), filters) == total
    known = {hour: of for told in hourly for hour, of in told.hours.items()}
    assert known == {told.start: (told.ledger.allocated, told.ledger.productive) for told in hourly}
    begin = window(world).start
    for size in (3 * HOUR, 7 * HOUR):
        stretches = queries.hourly(scope, window(world), filters, size)
        assert ledgers_of(stretches) == gathered(hourly, begin, size)
        assert {hour: of for told in stretches for hour, of in told.hours.items()} == known
        assert ledgers_of(queries.sums(scope, window(world), filters, size)) == gathered(hourly, begin, size)
    days = Window(floor_day(begin), world.edge)
    expected = gathered(queries.hourly(scope, days, filters), days.start, DAY)
    assert ledgers_of(queries.sums(scope, days, filters, DAY)) == expected


def ledgers_of(told: tuple[queries.Stretch, ...]) -> dict[int, Ledger]:
    return {each.start: each.ledger for each in told}


def gathered(hourly: tuple[queries.Stretch, ...], begin: int, size: int) -> dict[int, Ledger]:
    found: dict[int, Ledger] = {}
    for each in hourly:
        start = each.start - (each.start - begin) % size
        found[start] = found.get(start, Ledger()) + each.ledger
    return found


@pytest.mark.parametrize(("size", "start", "is_read"), [(DAY, 0, True), (DAY, HOUR, False), (3 * HOUR, 0, False)])
def test_days_that_are_rolled_up_are_read_as_one(world: World, size: int, start: int, is_read: bool) -> None:
    categorize(world.east)
    asked = Window(floor_day(world.edge) - DAY + start, world.edge), queries.ANY, size
    before = queries.sums(scope_of_workspace(world.vision), *asked)
    DayPool.objects.update(failure=Coalesce(F("failure"), 0) + 1)
    assert (queries.sums(scope_of_workspace(world.vision), *asked) != before) == is_read


def test_what_went_wrong_adds_up_to_what_was_lost_there(world: World, get: Get) -> None:
    scope = scope_of_workspace(world.vision)
    spots = queries.find_spots(scope, "machine", "gpu-1")
    found = queries.troubles(scope, window(world), spots, limit=100)
    whole = queries.goodput(scope, window(world), filters=Filters(machine="gpu-1")).total
    sums = [sum(trouble.ledger.amounts[c] for trouble in found.rows) for c in range(8)]
    assert sums == [whole.held[c] if c in (2, 4, 5, 6) else 0 for c in range(8)]
    assert found.cost == sum(sums)
    assert found.rows[0].reasons == ("failure",)
    page = get(f"{ROOM}/machines/gpu-1", **closed(world))
    assert "failed" in text_of(page, "troubles")
    link = next(a for a in read(page).by_id("troubles").of("a") if "timeline" in a.attributes.get("title", ""))
    assert get(link.attributes["href"].split("#")[0]).context["run"].name == "llm"


def test_a_pool_has_the_troubles_of_its_machines(world: World, get: Get) -> None:
    page = get(f"{ROOM}/pools/h100", **closed(world))
    assert {row[0].split(" ")[0] for row in cells(page)} >= {"gpu-1", "gpu-5"}
    machines = {trouble.machine for trouble in page.context["troubles"]}
    assert machines >= {"gpu-1", "gpu-2", "gpu-3", "gpu-4"}
    listed = get(f"{ROOM}/pools", **closed(world))
    assert "h100" in [row[0] for row in cells(listed)]


def test_a_member_sees_only_what_their_workspace_did_with_it(world: World, get: Get) -> None:
    shared(world)
    mine, theirs = (
        get(f"{ROOM}/machines/gpu-5", **closed(world)),
        get(f"{EAST}/machines/gpu-5", "adam", **closed(world)),
    )
    assert "sonata" not in mine.content.decode()
    assert "sonata" in theirs.content.decode()
    total = [queries.goodput(scope_of_workspace(w), window(world), filters=Filters(machine="gpu-5")).total
             for w in (world.vision, world.speech)]  # fmt: skip
    assert f" {hours(total[0].allocated)} GPU-hours" in text_of(mine, "figure-held")
    assert f" {hours(total[0].allocated + total[1].allocated)} GPU-hours" in text_of(theirs, "figure-held")
    assert "free" not in text_of(mine, "facts")
    assert "free" in text_of(theirs, "facts")


def test_a_machine_that_was_never_held_here_is_no_page(world: World, get: Get) -> None:
    spare = Batch("test/east", world.now, machines=[MachineItem(0, "spare", "h100", 8000, True)])
    assert ingest(world.east, spare).refused == []
    answers = [get(f"{ROOM}/machines/{name}") for name in ("spare", "nope")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert get("/w/acme/speech/machines/gpu-5", "sol").status_code == 404
    assert get("/w/acme/speech/machines/gpu-4", "sol").status_code == 200
    assert get(f"{EAST}/machines/spare", "adam").status_code == 200
    assert get("/w/globex/hidden/machines/gpu-1", "eve").status_code == 404


def test_capacity_is_held_free_and_down(world: World, get: Get) -> None:
    broken = Batch("test/east", world.now, machines=[
        MachineItem(0, "spare", "h100", 8000, True), MachineItem(1, "broken", "h100", 8000, False),
        MachineItem(2, "small", "tiny", 1000, True),
    ])  # fmt: skip
    run(broken, "wide", "ana", world.now)
    state(broken, "wide", "worker-0", world.now, Phase.RUNNING, gpus_milli=1500, machine="small", pool="tiny")
    assert ingest(world.east, broken).refused == []
    pools = {pool.name: pool for pool in queries.capacity(world.east.pk, "pool")}
    for pool in pools.values():
        assert pool.held + pool.free + pool.down == pool.capacity + pool.over
    assert pools["h100"][1:] == (7, 56_000, 33_000, 16_000, 8000, 1000, 1, 0, ("broken",))
    assert pools["tiny"][1:] == (1, 1000, 1500, 0, 0, 500, 0, 0, ())
    text = text_of(get(f"{EAST}/goodput", "adam"), "capacity")
    assert "1 held beyond what was told 7 56 33 16 8" in text
    assert "not ready broken" in text
    assert "0.5 held beyond what was told" in text
    assert "8 GPUs: 0 held, 0 free, 8 down" in text_of(get(f"{EAST}/machines/broken", "adam"), "facts")
    assert text_of(get(f"{EAST}/machines/broken", "adam"), "state") == "not ready"
    assert "capacity" not in get(f"{ROOM}/goodput").context


READINESS = """
told          07:30 ready · 09:15 not ready · 09:45 not ready · 10:30 ready · 11:00 not ready
of 2 GPUs     09:00–12:00   not ready 09:15–10:30 and 11:00–12:00
"""


def test_the_history_of_readiness_is_what_was_told(world: World) -> None:
    day = world.edge - DAY
    for minute, ready in ((450, True), (555, False), (585, False), (630, True), (660, False)):
        at = day + minute * MINUTE
        batch = Batch("test/east", at, machines=[MachineItem(0, "odd", "odd", 2000, ready)])
        assert ingest(world.east, batch).refused == []
    found = queries.capacity_weeks(world.east.pk, Window(day + 9 * HOUR, day + 12 * HOUR), machine="odd")
    assert sum(week.capacity for week in found) == 2 * 3 * GPU_US_PER_HOUR
    assert sum(week.unready for week in found) == 2 * (75 + 60) * GPU_US_PER_HOUR // 60
    whole = queries.capacity_weeks(world.east.pk, Window(day, day + 9 * HOUR), machine="odd")
    assert sum(week.capacity for week in whole) == 2 * 2 * GPU_US_PER_HOUR, "from the hour in which it was first told"


def test_the_weeks_of_a_cluster_have_its_capacity(world: World, get: Get) -> None:
    page = get(f"{EAST}/goodput/weekly", "adam")
    assert "Capacity by week" in text_of(page, "capacity")
    shown_first = page.context["capacity_weeks"][0]
    later = queries.capacity_weeks(world.east.pk, page.context["shown"].window)[-1]
    assert abs(float(shown_first.capacity) - later.capacity / GPU_US_PER_HOUR) < 1, "it ticks"
    assert get(f"{EAST}/goodput/weekly").status_code == 404
    assert get(f"{EAST}/goodput/weekly", "adam", format="csv")["Content-Type"].startswith("text/csv")


@pytest.mark.parametrize(
    "name", ["x/goodput", "x/goodput/weekly", "a/b", "..", ".", "100%", "50%2F50", "%", "é?#&", "%252F", MARKUP]
)
def test_any_name_has_a_page(world: World, get: Get, name: str) -> None:
    batch = Batch("test/east", world.now, seen_from=world.edge)
    run(batch, name, "ana", world.edge)
    where = {"machine": name, "pool": f"pool {name}", "gpus_milli": 1000}
    state(batch, name, "worker-0", world.edge, Phase.RUNNING, **where)
    assert ingest(world.east, batch).refused == []
    here = Place("acme", "vision")
    assert get(here.run(name)).context["run"].name == name
    assert get(here.spot("machine", name)).context["name"] == name
    assert get(here.spot("pool", f"pool {name}")).context["name"] == f"pool {name}"
    assert "/" not in part(name)
    links = [a.attributes["href"] for a in read(get(f"{ROOM}/machines")).by_id("rows").of("a") if a.text == name]
    assert [get(link).context["name"] for link in links if link.startswith("/")] == [name]


def test_a_slash_may_be_written_as_it_is() -> None:
    assert named("a/b") == "a/b"
    assert named("100%") == "100%"


def test_names_are_inert_in_what_is_drawn_by_hand(world: World, get: Get) -> None:
    for path in (f"{ROOM}/machines", f"{ROOM}/pools", Place("acme", "vision").spot("pool", CLOSING)):
        page = get(path).content.decode()
        assert "<img src=x" not in page
        assert "<script>document" not in page


def test_shades_follow_goodput() -> None:
    told = [(0, 100), (19, 81), (20, 80), (79, 21), (94, 6), (95, 5), (100, 0)]
    shades = [shade(queries.Held(good + bad, good)) for good, bad in told]
    assert shades == [0, 0, 1, 3, 4, 5, 5]
    assert shade(queries.Held()) == -1


def test_a_long_range_is_cut_to_eight_weeks(world: World, get: Get) -> None:
    page = get(f"{ROOM}/machines/gpu-1", start="2026-01-01", end="2026-11-01")
    assert len(page.context["heat"].days) == DAYS_MAX
    assert page.context["heat"].cut
    assert len(get(f"{ROOM}/machines/gpu-1").context["heat"].days) in (7, 8), (
        "from midnight, or from an hour of the first day"
    )
    assert re.search(r"last eight weeks", text_of(page, "heat"))


def test_the_scope_of_a_cluster_is_the_cluster(world: World) -> None:
    scope = scope_of_organization(world.vision.organization, world.east.pk)
    assert queries.find_spots(scope, "machine", "gpu-1", whole=True)[0].cluster == "east"
    assert queries.find_spots(scope, "machine", "unplaced", whole=True) == ()
    assert heat([], shown({}, world.now), world.now).days != ()
