"""Cells: hours, machines and pools; postings that tick by themselves, and what they come to."""

from ledger.core.categories import Category
from ledger.core.facts import FOREVER
from ledger.core.postings import LINES, Cell, Postings
from ledger.core.spans import Span
from ledger.core.windows import HOUR
from tests.evidence import Settings
from tests.memory import Memory
from tests.oracle import cells
from tests.worlds import DAY, MONDAY, iso

RUN, ON, IN = 7, 3, 2


def span(since: int, to: int = FOREVER, *, unobserved: bool = False, gpus: int = 8_000) -> Span:
    return Span(since, to, Category.PRODUCTIVE, unobserved, gpus, ON, IN, 1, 1)


def post(open_hour: int, *signed: tuple[int, Span], since: int = 0) -> Postings:
    postings = Postings(open_hour)
    for sign, one in signed:
        postings.post(RUN, sign, [one], since)
    return postings.net()


def line(amount: int, *labels: str) -> list[int]:
    return [amount if label in labels else 0 for label in LINES]


def test_a_span_is_cut_at_every_hour() -> None:
    postings = post(3 * HOUR, (1, span(HOUR // 2, 2 * HOUR + 1)))
    assert postings.closed == {
        (0, Cell(RUN, ON, IN)): line(8_000 * HOUR // 2, "productive"),
        (HOUR, Cell(RUN, ON, IN)): line(8_000 * HOUR, "productive"),
        (2 * HOUR, Cell(RUN, ON, IN)): line(8_000, "productive"),
    }
    assert postings.rates == postings.offsets == {}


def test_an_open_span_ticks_from_its_begin_in_the_open_hour() -> None:
    postings = post(HOUR, (1, span(HOUR + 90_000)))
    assert postings.rates == {Cell(RUN, ON, IN): line(8_000, "productive")}
    assert postings.offsets == {Cell(RUN, ON, IN): line(-8_000 * 90_000, "productive")}
    assert postings.closed == {}


def test_a_span_that_ended_in_the_open_hour_leaves_its_amount() -> None:
    postings = post(HOUR, (1, span(HOUR - 1, HOUR + 90_000)))
    assert postings.closed == {(0, Cell(RUN, ON, IN)): line(8_000, "productive")}
    assert postings.rates == {Cell(RUN, ON, IN): line(0)}
    assert postings.offsets == {Cell(RUN, ON, IN): line(8_000 * 90_000, "productive")}


def test_unobserved_is_counted_beside_its_category() -> None:
    postings = post(HOUR, (1, span(0, 1, unobserved=True)))
    assert postings.closed == {(0, Cell(RUN, ON, IN)): line(8_000, "productive", "unobserved", "unobserved_productive")}


def test_what_is_taken_back_and_posted_again_nets_to_nothing() -> None:
    postings = post(HOUR, (-1, span(10)), (1, span(10)))
    assert (postings.closed, postings.rates, postings.offsets) == ({}, {}, {})


def test_only_the_part_from_the_changed_instant_on_is_posted() -> None:
    postings = post(2 * HOUR, (-1, span(10, HOUR)), (1, span(10, HOUR - 5)), since=HOUR // 2)
    assert postings.closed == {(0, Cell(RUN, ON, IN)): line(-5 * 8_000, "productive")}


def test_a_correction_reaches_from_a_closed_hour_into_the_open_one() -> None:
    postings = post(2 * HOUR, (-1, span(HOUR // 2)))
    assert postings.closed == {
        (0, Cell(RUN, ON, IN)): line(-8_000 * HOUR // 2, "productive"),
        (HOUR, Cell(RUN, ON, IN)): line(-8_000 * HOUR, "productive"),
    }
    assert postings.rates == {Cell(RUN, ON, IN): line(-8_000, "productive")}
    assert postings.offsets == {Cell(RUN, ON, IN): line(0)}


def test_the_cells_of_a_small_day() -> None:
    state = {"run": "r", "worker": "w"}
    batch = {
        "source": "a",
        "sent_at": iso(MONDAY - DAY),
        "runs": [{"uid": "r", "workspace": "v"}],
        "workers": [
            state | {"at": iso(MONDAY), "phase": "pending", "gpus": 0.142, "pool": "p"},
            state | {"at": iso(MONDAY + HOUR - 1), "phase": "starting", "machine": "m", "pool": "p"},
            state | {"at": iso(MONDAY + HOUR + 1), "phase": "running"},
            state | {"at": iso(MONDAY + 2 * HOUR), "phase": "ended"},
        ],
    }
    wanted = {
        (MONDAY, "r", "unplaced", "p"): {"waiting": 142 * (HOUR - 1), "unobserved": 142 * (HOUR - 1)},
        (MONDAY, "r", "m", "p"): {"starting": 142, "unobserved": 142},
        (MONDAY + HOUR, "r", "m", "p"): {
            "starting": 142,
            "productive": 142 * (HOUR - 1),
            "unobserved": 142 * HOUR,
            "unobserved_productive": 142 * (HOUR - 1),
        },
    }
    assert cells([batch], Settings(), MONDAY + DAY) == wanted
    for began, now in ((MONDAY, MONDAY), (MONDAY, MONDAY + 90_000), (MONDAY + DAY, MONDAY + DAY)):
        memory = Memory(Settings(), began)
        memory.receive(now, batch)
        memory.categorize(MONDAY + DAY)
        assert memory.cells(MONDAY + DAY) == wanted


def test_an_open_cell_is_exact_at_any_instant() -> None:
    memory = Memory(Settings(), MONDAY)
    batch = {
        "source": "a",
        "sent_at": iso(MONDAY - DAY),
        "runs": [{"uid": "r", "workspace": "v"}],
        "workers": [{"run": "r", "worker": "w", "at": iso(MONDAY + 5), "phase": "failed", "gpus": 2.5}],
    }
    memory.receive(MONDAY + 5, batch)
    for at in (5, 6, 1_000, HOUR - 1):
        amount = 2_500 * (at - 5)
        wanted = {(MONDAY, "r", "unknown", "none"): {"failure": amount, "unobserved": amount}} if amount else {}
        assert memory.cells(MONDAY + at) == wanted
