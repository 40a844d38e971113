"""The query string: what it means, what is wrong with it, and that every link carries all of it."""

from urllib.parse import parse_qsl

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from dashboards.filters import CHOICES, STATE, Shown, shown
from dashboards.moments import iso
from ledger.core.windows import DAY, HOUR, WEEK, Window, floor_week

NOW = 1_794_096_000_000 // HOUR * HOUR + 42 * 60_000
HOUR_END = NOW // HOUR * HOUR + HOUR


def read(query: str) -> Shown:
    return shown(QueryDict(query).dict(), NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "window"),
    [
        ("", Window(HOUR_END - 7 * DAY, HOUR_END)),
        ("range=24h", Window(HOUR_END - DAY, HOUR_END)),
        ("range=7d", Window(HOUR_END - 7 * DAY, HOUR_END)),
        ("range=30d", Window(HOUR_END - 30 * DAY, HOUR_END)),
        ("range=8w", Window(floor_week(NOW) - 7 * WEEK, HOUR_END)),
        ("start=2026-10-01T12:30Z&end=2026-10-02T11:00:01Z", Window(1_790_856_000_000, 1_790_856_000_000 + DAY)),
        ("start=2026-10-01T12:30&end=2026-10-02T12:00", Window(1_790_856_000_000, 1_790_856_000_000 + DAY)),
        (
            "start=2026-10-01T14:30%2B02:00&end=2026-10-02T13:00%2B02:00",
            Window(1_790_856_000_000, 1_790_856_000_000 + 23 * HOUR),
        ),
        ("start=2026-10-01&end=2026-10-02", Window(1_790_812_800_000, 1_790_812_800_000 + DAY)),
        ("start=2026-10-01", Window(1_790_812_800_000, HOUR_END)),
        ("range=24h&start=2026-10-01&end=2026-10-02", Window(1_790_812_800_000, 1_790_812_800_000 + DAY)),
        ("range=custom", Window(HOUR_END - 7 * DAY, HOUR_END)),
    ],
)
def test_a_range_is_a_window_of_whole_hours(query: str, window: Window) -> None:
    found = read(query)
    assert found.window == window
    assert found.problems == ()


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("range=9y", "“9y” is not a value of range; it takes 7d, 24h, 30d, 8w, custom."),
        ("by=planet", "“planet” is not a value of by; it takes run, machine, pool, workspace, user."),
        ("sort=-colour", "“-colour” is not a value of sort"),
        ("scale=log", "“log” is not a value of scale; it takes same, share."),
        ("format=pdf", "“pdf” is not a value of format; it takes html, csv, json."),
        ("page=two", "“two” is not a page."),
        ("page=-1", "“-1” is not a page."),
        ("page=٣", "“٣” is not a page."),
        ("page=100001", "“100001” is not a page."),
        ("page=99999999999999999999", "is not a page."),
        ("start=yesterday", "“yesterday” is not a time; write one like 2026-11-08T14:00Z."),
        ("start=2026-02-30", "“2026-02-30” is no day or time there is."),
        ("start=2026-02-30T00:00Z", "“2026-02-30T00:00Z” is no day or time there is."),
        ("start=2026-10-01T25:00Z", "“2026-10-01T25:00Z” is no day or time there is."),
        ("start=0001-01-01T00:00%2B23:59", "The year 1 is not between 2000 and 2100."),
        ("start=9999-12-31T23:59-23:59", "The year 9999 is not between 2000 and 2100."),
        ("end=2026-10-01", "A range needs a start."),
        ("start=2026-10-02&end=2026-10-01", "The range ends before it starts."),
        ("start=2026-10-02&end=2026-10-02", "The range ends before it starts."),
        ("start=2025-01-01&end=2026-02-05T00:00:01Z", "A range has at most 400 days."),
        (f"q={'x' * 254}", "q takes at most 253 characters"),
        ("run=a%00b", "run takes at most 253 characters, and none of them is NUL."),
    ],
)
def test_what_cannot_be_understood_is_said_and_its_default_stands_in(query: str, problem: str) -> None:
    found = read(query)
    assert len(found.problems) == 1
    assert problem in found.problems[0]
    assert found.window == Window(HOUR_END - 7 * DAY, HOUR_END)


def test_the_longest_range_and_the_longest_text_are_taken() -> None:
    assert read("start=2025-01-01&end=2026-02-05").problems == ()
    assert read(f"q={'x' * 253}&page=100000").problems == ()


@given(st.dictionaries(st.sampled_from([*STATE, "other"]), st.text(max_size=40)))
def test_no_query_string_is_an_error(query: dict[str, str]) -> None:
    assert shown(query, NOW).window.end > 0


@given(
    st.fixed_dictionaries(
        {},
        optional={
            **{name: st.sampled_from(values) for name, values in CHOICES.items()},
            **{
                name: st.text(max_size=20).filter(lambda text: "\0" not in text)
                for name in ("q", "run", "machine", "pool", "user")
            },
            "page": st.integers(1, 99).map(str),
            "start": st.just("2026-10-01"),
        },
    )
)
def test_a_link_that_changes_nothing_leads_to_the_same(query: dict[str, str]) -> None:
    found = shown(query, NOW)
    again = dict(parse_qsl(found.link(page=found.page)[1:]))
    assert shown(again, NOW) == found


def test_links_keep_what_they_do_not_change_and_leave_out_what_is_usual() -> None:
    found = read("by=pool&sort=-idle&q=h1&page=3&range=30d&scale=share")
    assert found.link(by="machine") == "?range=30d&by=machine&q=h1&sort=-idle&scale=share"
    assert found.link(page=4) == "?range=30d&by=pool&q=h1&sort=-idle&page=4&scale=share"
    assert found.link(range="7d", by="run", q="", sort="-lost", scale="same") == "?"


def test_a_preset_drops_the_dates_and_dates_drop_the_preset() -> None:
    custom = read("start=2026-10-01&end=2026-10-02&by=pool")
    assert custom.link(range="24h") == "?range=24h&by=pool"
    assert custom.link(by="run") == "?start=2026-10-01T00%3A00%3A00Z&end=2026-10-02T00%3A00%3A00Z"


def test_a_fixed_link_means_these_very_hours_later_too() -> None:
    found = read("range=24h&by=pool")
    later = shown(dict(parse_qsl(found.fixed[1:])), NOW + 5 * DAY)
    assert later.window == found.window
    assert later.start == iso(found.window.start)


def test_names_with_anything_in_them_survive_a_link() -> None:
    name = 'a&b=c?#"<>% +ä'
    assert dict(parse_qsl(read("").link(run=name)[1:]))["run"] == name
