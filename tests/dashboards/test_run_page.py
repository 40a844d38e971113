"""The page of a run: its figures, what it lost, its timeline, its workers, and the list of runs that leads to it."""

import re
from statistics import median

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboards.filters import shown
from dashboards.lanes import Piece, pieces
from dashboards.moments import iso
from dashboards.numbers import decimal, hours
from dashboards.zoom import TICKS_MAX, Zoom, zoom
from ledger import queries
from ledger.access import scope_of_workspace
from ledger.batches import Batch, Condition, RunItem
from ledger.core.categories import Category
from ledger.core.windows import DAY, HOUR, Window
from ledger.ingest import ingest
from ledger.queries import Segment
from tests.dashboards.conftest import Get
from tests.dashboards.reading import read, text_of
from tests.dashboards.test_goodput_page import closed
from tests.dashboards.world import CLOSING, MARKUP, MINUTE, World, more_runs, more_workers, run

RUNS = "/w/acme/vision/runs"
LLM = f"{RUNS}/uid-llm"
NEW_YEAR = 20_454 * DAY  # of 2026


def part(start: int, end: int, group: int = -1) -> Zoom:
    window = Window(start - start % HOUR, end - end % HOUR + HOUR)
    return Zoom(shown({}, end, window), (start, end), start, end, group)


def segment(since: int, to: int | None, category: Category = Category.PRODUCTIVE) -> Segment:
    return Segment(since, to, category, False, 8000, category is not Category.WAITING, "gpu-1", "h100", 1)


def test_the_page_says_what_the_run_is_and_what_it_does(world: World, get: Get) -> None:
    page = get(LLM)
    assert text_of(page, "state") == "stalled"
    facts = text_of(page, "facts")
    assert "owner ana" in facts
    assert "2 attempts 4 workers holds 32 GPUs" in facts
    ledger = queries.run_goodput(
        scope_of_workspace(world.vision),
        queries.find_run(scope_of_workspace(world.vision), "llm"),
        Window(world.edge - 2 * DAY, world.edge),
    ).total  # type: ignore[arg-type]
    past = get(LLM, **closed(world))
    assert f" {hours(ledger.allocated)} GPU-hours" in text_of(past, "figure-held")
    assert text_of(get(f"{RUNS}/uid-sweep-000"), "state") == "ended"
    assert text_of(get(f"{RUNS}/uid-queued"), "state") == "waiting"


def test_the_page_says_what_the_source_says_of_the_run(world: World, get: Get) -> None:
    said = (
        Condition("Running", "False", "PyTorchJobRunning", "it ran", world.now - HOUR),
        Condition("Restarting", "True", "", MARKUP, None),
        Condition("Odd", "Unknown", "", "", None),
    )
    ingest(world.east, Batch("test", world.now, runs=[RunItem(0, "uid-llm", *[None] * 8, said)]))
    details = text_of(get(LLM), "details")
    assert "Running no longer since" in details
    assert "PyTorchJobRunning: it ran" in details
    assert "Odd Unknown" in details
    assert MARKUP in details, "as a text"


def test_a_run_is_found_by_uid_and_by_name_and_only_where_it_is(world: World, get: Get) -> None:
    assert get(f"{RUNS}/llm").context["run"].uid == "uid-llm"
    assert [get(f"{RUNS}/choir").status_code, get(f"{RUNS}/nope").status_code, get(LLM, "eve").status_code] == [404] * 3
    assert get("/w/acme/speech/runs/choir", "adam").status_code == 200
    batch = Batch("test/east", world.now, seen_from=world.edge)
    for name in ("goodput", "team/a b?#", "goodput/weekly"):
        run(batch, name, "ana", world.edge)
    ingest(world.east, batch)
    listed = {a.text: a.attributes["href"] for a in read(get(RUNS)).by_id("rows").of("a")}
    for name in ("goodput", "team/a b?#"):
        assert get(listed[name]).context["run"].name == name


def test_a_run_that_is_over_is_shown_up_to_its_end(world: World, get: Get) -> None:
    begin = world.edge - 2 * DAY
    context = get(f"{RUNS}/uid-sweep-001").context
    assert context["shown"].window == Window(begin, begin + 5 * HOUR)
    assert context["zoom"].whole == (begin, begin + 4 * HOUR + MINUTE)
    assert not context["partial"]
    going = get(LLM).context
    assert going["shown"].window == Window(begin, world.edge + HOUR)
    assert going["partial"]


def test_what_it_lost_is_ranked_and_leads_to_the_timeline(world: World, get: Get) -> None:
    page = read(get(LLM, **closed(world))).by_id("losses")
    first, second, third = page.of("tr")[1:4]
    assert first.of("th")[0].text == "gpu-1 failed"
    assert "restart 32.0, failure 64.0" in first.text
    assert [cell.text for cell in first.of("td")][1:] == ["4", first.of("td")[2].text, "96.0", first.of("td")[4].text]
    assert [row.of("th")[0].text for row in (second, third)] == ["gpu-1 GPUs idle", "waited for GPUs"]
    there = get(LLM + first.of("a")[0].attributes["href"].split("#")[0]).context["zoom"]
    begin = world.edge - 2 * DAY
    assert (there.start, there.end) == (begin + 20 * HOUR - 45 * MINUTE, begin + 23 * HOUR + 45 * MINUTE)


def test_the_timeline_has_a_lane_a_worker_with_exact_instants(world: World, get: Get) -> None:
    begin = world.edge - 2 * DAY
    page = read(get(LLM, start=iso(begin), end=iso(world.edge))).by_id("lanes")
    lines = [line for line in page.of("div") if line.attributes["class"] == "line"]
    assert [line.of("span")[0].text for line in lines] == [f"worker-{n} gpu-{n + 1}" for n in range(4)]
    titles = [title.text for title in lines[0].of("title")]
    assert titles[0].startswith("waiting, ")
    assert titles[0].endswith("(2 h 0 min), on no machine, attempt 1, 8 GPUs")
    told = [title.split(",")[0] for title in titles]
    assert told[:3] == ["waiting", "starting", "productive"]
    failed = titles[told.index("failure")]
    whole_hour = r"\d+ \w+( \d{4})? \d\d:00:00"  # with its year when that is over
    rest = r" UTC \(1 h 0 min\), gpu-1 h100, attempt 1, 8 GPUs"
    assert re.fullmatch(f"failure, {whole_hour} – {whole_hour}{rest}", failed)


def test_a_run_is_seen_beside_the_others(world: World, get: Get) -> None:
    page = get(LLM, **closed(world))
    answer = queries.goodput(
        scope_of_workspace(world.vision), Window(world.edge - 2 * DAY, world.edge), "run", limit=None
    )
    others = [row.ledger.goodput for row in answer.rows if row.uid != "uid-llm" and row.ledger.goodput is not None]
    rows = [row.text for row in read(page).by_id("beside").of("tr")]
    assert f"the {len(others)} other runs" in text_of(page, "beside")
    assert rows[1].startswith("goodput")
    assert f"{decimal(median(others) * 100)} %" in rows[1]
    better = sum(other > page.context["run_total"].goodput for other in others)
    assert rows[1].endswith(str(better))
    assert "its biggest loss" in text_of(page, "beside")
    assert "beside" not in [p.template for p in get("/w/acme/speech/runs/uid-choir", "sol").context["sections"]]


def test_stretches_too_short_to_be_seen_are_drawn_as_one() -> None:
    flips = [segment(n, n + 1, Category.IDLE if n % 3 else Category.PRODUCTIVE) for n in range(30)]
    found = list(pieces([*flips, segment(30, 100), segment(100, None)], 10, 120))
    assert [(piece.since, piece.to, len(piece.parts)) for piece in found] == [
        (0, 10, 10), (10, 20, 10), (20, 30, 10), (30, 100, 1), (100, 120, 1),
    ]  # fmt: skip
    assert found[0].most.category is Category.IDLE
    assert isinstance(found[-1], Piece)


def test_zooming_stays_within_the_run_and_its_marks_are_round() -> None:
    whole = part(NEW_YEAR + 10 * HOUR, NEW_YEAR + 20 * HOUR)
    close = zoom({"from": iso(NEW_YEAR + 12 * HOUR), "to": iso(NEW_YEAR + 14 * HOUR)}, whole.shown, whole.whole)
    assert (close.start, close.end) == (NEW_YEAR + 12 * HOUR, NEW_YEAR + 14 * HOUR)
    assert close.ticks() == list(range(NEW_YEAR + 12 * HOUR, NEW_YEAR + 14 * HOUR, 30 * MINUTE))
    assert f"from={iso(NEW_YEAR + 12 * HOUR + 30 * MINUTE).replace(':', '%3A')}" in close.closer
    assert close.all == "?#timeline"
    assert "from=2026-01-01T11" in close.earlier
    assert (whole.wider, whole.earlier, whole.later) == ("", "", "")
    assert len(whole.ticks()) <= TICKS_MAX
    outside = zoom({"from": iso(NEW_YEAR + 50 * HOUR), "to": iso(NEW_YEAR + 5 * HOUR)}, whole.shown, whole.whole)
    assert (outside.start, outside.end) == (NEW_YEAR + 20 * HOUR - MINUTE, NEW_YEAR + 20 * HOUR)
    assert zoom({"from": "soon"}, whole.shown, whole.whole).problem.startswith("“soon” is not a time")


def test_the_list_has_the_runs_of_its_query_and_can_be_searched(world: World, get: Get) -> None:
    more_runs(world, 60)
    found = queries.runs(scope_of_workspace(world.vision), limit=50)
    names = [row.of("th")[0].text for row in read(get(RUNS)).by_id("rows").of("tr")[1:]]
    assert names == [row.name for row in found.rows]
    assert names[0] in {"llm", "queued"}
    assert f"{found.count} runs" in text_of(get(RUNS), "rows")
    assert len(read(get(RUNS, page="2")).by_id("rows").of("tr")) == found.count - 50 + 1
    assert "No run matches “nope”" in text_of(get(RUNS, q="nope"), "nothing")
    assert [r.of("th")[0].text for r in read(get(RUNS, user="ana")).by_id("rows").of("tr")[1:]] == ["llm"]


@pytest.mark.parametrize("name", [MARKUP, CLOSING])
def test_names_are_never_markup(world: World, get: Get, name: str) -> None:
    run_page = next(address for row, _, address in get(RUNS).context["rows"] if row.name == name)
    for page in (get(RUNS), get(run_page)):
        text = page.content.decode()
        assert "<img src=x" not in text
        assert "</script></table>" not in text


def test_the_number_of_queries_does_not_depend_on_the_workers(world: World, get: Get) -> None:
    get(LLM)

    def counted() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert get(LLM).status_code == 200
        return len(captured)

    few = counted()
    more_workers(world)
    assert few == counted() <= 21
