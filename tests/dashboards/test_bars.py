"""Bars: widths that add up exactly, patterns, words for who cannot see them."""

import xml.etree.ElementTree as ET
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dashboards.bars import GAP, WIDTH, Markup, bar, described, percent, segments
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from tests.dashboards.ledgers import ledger, ledgers

ROOM = WIDTH - GAP


@given(ledgers(), st.integers(0, 10**16))
def test_widths_add_up_to_the_width_of_what_was_asked(of: Ledger, more: int) -> None:
    full = of.asked + more
    pieces = list(segments(of, full)) if full else []
    assert sum(piece.width for piece in pieces) == (of.asked * ROOM // full if full else 0)
    assert sum(piece.amount for piece in pieces) == of.asked
    assert all(piece.width >= 0 for piece in pieces)
    assert all(abs(piece.width - piece.amount * ROOM / full) <= 1 + 1e-6 for piece in pieces)


@given(ledgers())
def test_pieces_lie_side_by_side_and_what_is_not_held_after_a_gap(of: Ledger) -> None:
    pieces = list(segments(of, max(of.asked, 1)))
    for one, two in pairwise(pieces):
        assert two.x - (one.x + one.width) == (GAP if one.held and not two.held else 0)
        assert (not one.held, one.category) < (not two.held, two.category)
    assert all(piece.x >= 0 and piece.x + piece.width <= WIDTH for piece in pieces)


def test_a_bar_as_it_is_drawn() -> None:
    of = ledger(productive=6, idle=2, unheld={"waiting": 1, "failure": 1})
    where = ET.fromstring(bar(of, 10 * 3_600_000_000))
    rects = [(r.get("class"), r.get("x"), r.get("width")) for r in where[0]]
    assert rects == [
        ("k0", "0%", "59.58%"),
        ("k1", "59.58%", "19.86%"),
        ("u5", "80.14%", "9.93%"),
        ("u7", "90.07%", "9.93%"),
    ]
    assert (where.get("role"), where.get("tabindex")) == ("img", "0")
    assert where.get("style") is None
    assert where.get("data-to") is None
    assert where.get("aria-label") == described(of)


def test_a_row_of_half_the_time_has_half_the_width() -> None:
    full = ledger(productive=10).asked
    assert [piece.width for piece in segments(ledger(productive=5), full)] == [ROOM // 2]


def test_nothing_is_an_empty_bar_and_said_so() -> None:
    where = ET.fromstring(bar(Ledger(), 0))
    assert list(where[0]) == []
    assert where.get("aria-label") == described(Ledger()) == "no time"


def test_a_bar_in_words() -> None:
    of = ledger(productive=6, idle=2, failure=1, unheld={"waiting": 1, "failure": 1})
    assert described(of) == (
        "productive 6.0 GPU-hours, 54.5 %; idle 2.0 GPU-hours, 18.2 %; failure 2.0 GPU-hours, 18.2 %; "
        "waiting 1.0 GPU-hours, 9.1 %; of these 1.0 not held, waiting to be placed again"
    )


def test_a_bar_leads_to_the_rows_sorted_by_each_category() -> None:
    markup = bar(ledger(idle=1), 1, '?run=a"><b>&by=machine')
    assert 'data-to="?run=a&quot;&gt;&lt;b&gt;&amp;by=machine&amp;"' in markup
    assert "<b>" not in markup
    assert 'data-to="?"' in bar(ledger(idle=1), 1, "?")


def test_percents_are_as_svg_takes_them() -> None:
    assert [percent(n) for n in (0, 1, 12_500, 100_000)] == ["0%", "0.001%", "12.5%", "100%"]


def test_markup_is_not_escaped_and_what_is_made_of_it_is() -> None:
    from django.template import Context, Template

    rendered = Template("{{ made }}{{ said }}").render(Context({"made": Markup("<i/>"), "said": Markup("<i/>") + "<"}))
    assert rendered == "<i/>&lt;i/&gt;&lt;"


def test_every_category_has_its_two_patterns() -> None:
    from django.template.loader import render_to_string

    from dashboards.filters import shown
    from dashboards.rows import parts

    patterns = render_to_string("dashboards/_patterns.html", {"parts": parts(Ledger(), shown({}, 0))})
    for category in Category:
        assert patterns.count(f'id="held-{category.label}"') == 1
        assert patterns.count(f'id="unheld-{category.label}"') == 1
