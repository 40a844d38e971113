"""However a log is cut, sent again, shuffled or interrupted, its measurement says the same."""

import random
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from ledger import queries
from ledger.logs.builtin import matcher
from ledger.logs.layouts import EPOCH, MICROSECOND
from ledger.measuring.answers import answer
from ledger.measuring.begin import Wish, begin
from ledger.measuring.coverage import joined, missing
from ledger.measuring.windows import Window, overlap, read_window, take_window
from ledger.models import Cluster, LogStream, Organization, Run, Workspace

BEGIN = 1_790_000_000_000_000
STEP = "completed step: {}, seconds: {}, TFLOP/s/device: 130.5"


def stamped(us: int, text: str) -> bytes:
    return f"{(EPOCH + us * MICROSECOND).isoformat(timespec='milliseconds').replace('+00:00', 'Z')} {text}".encode()


def log(dice: random.Random, begin: int, steps: int, timed: bool) -> list[bytes]:
    """A log of an attempt with noise, several ranks, late lines, checkpoints, and maybe work that goes back."""
    at, number = begin, dice.randrange(50)
    said: list[tuple[int, str]] = [(at, "Running Model")]
    for _ in range(steps):
        at += dice.randrange(1, 90_000) * 1_000
        number = max(number - dice.randrange(10), 0) if dice.random() < 0.05 else number + 1
        line = STEP.format(number, f"{dice.randrange(10_000) / 1000}")
        said += [(at, line)] * dice.choice((1, 1, 1, 3))
        if dice.random() < 0.1:
            said.append((at + 5_000, f"saved a checkpoint at step {number}"))
        if dice.random() < 0.3:
            said.append(
                (at + 7_000, dice.choice(("noise", "", "Traceback (most recent call last):", "\x1b[31mred\x1b[0m")))
            )
    return [stamped(us, text) if timed or dice.random() < 0.2 else text.encode() for us, text in said]


def cut(dice: random.Random, lines: list[bytes], numbered: bool, attempt: int) -> list[Window]:
    """Windows that overlap, some of them twice."""
    found, at = [], 0
    while at < len(lines):
        size = dice.randrange(1, 40)
        back = dice.randrange(min(at, 12) + 1)
        found.append(Window(attempt, "worker-0", lines[at - back : at + size], at - back if numbered else None))
        at += size
    return found + dice.choices(found, k=len(found) // 3)


def run_of() -> Run:
    organization, _ = Organization.objects.get_or_create(name="acme")
    workspace, _ = Workspace.objects.get_or_create(organization=organization, name="vision")
    cluster, _ = Cluster.objects.get_or_create(organization=organization, name="east")
    run = Run.objects.create(cluster=cluster, workspace=workspace, uid=f"uid-{Run.objects.count()}", name="llm")
    Run.objects.filter(pk=run.pk).update(ended_at=(EPOCH + (BEGIN + 9_000_000_000_000) * MICROSECOND), outcome="failed")
    begin(run.pk, Wish("maxtext"))
    return run


def told(told_windows: list[Window]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the status and the picture of a run that is told so."""
    run = run_of()
    for window in told_windows:
        take_window(run.pk, window, read_window(matcher("maxtext"), window))
    found = answer(run.pk, queries.now())
    assert found is not None
    return found.document["status"], found.picture


class AnyCut(TestCase):
    """On Postgres."""

    @settings(max_examples=25)
    @given(st.integers(0, 10**9))
    def test_lines_with_numbers_need_no_time_and_no_order(self, seed: int) -> None:
        dice = random.Random(seed)
        logs = [log(dice, BEGIN + n * 4_000_000_000, dice.randrange(1, 60), False) for n in range(dice.randrange(1, 4))]
        whole = told([Window(n, "worker-0", lines, 0) for n, lines in enumerate(logs, 1)])
        pieces = [window for n, lines in enumerate(logs, 1) for window in cut(dice, lines, True, n)]
        dice.shuffle(pieces)
        assert told(pieces) == whole

    @settings(max_examples=25)
    @given(st.integers(0, 10**9))
    def test_lines_with_instants_need_no_numbers_and_no_order(self, seed: int) -> None:
        dice = random.Random(seed)
        logs = [log(dice, BEGIN + n * 4_000_000_000, dice.randrange(1, 60), True) for n in range(dice.randrange(1, 4))]
        whole = told([Window(n, "worker-0", lines) for n, lines in enumerate(logs, 1)])
        pieces = [window for n, lines in enumerate(logs, 1) for window in cut(dice, lines, False, n)]
        dice.shuffle(pieces)
        assert told(pieces) == whole

    @settings(max_examples=15)
    @given(st.integers(0, 10**9))
    def test_lines_with_neither_are_joined_in_their_order(self, seed: int) -> None:
        dice = random.Random(seed)
        lines = [b"%s %d" % (line, n) for n, line in enumerate(log(dice, BEGIN, 60, False))]
        plain = [line for line in lines if not line.startswith(b"20")]
        pieces = cut(random.Random(seed), plain, False, 1)
        order = [one for at, one in enumerate(pieces) if at == pieces.index(one)]
        again = [window for one in order for window in (one, one)]
        assert told(again) == told([Window(1, "worker-0", plain)])


@pytest.mark.django_db
@pytest.mark.parametrize("dies_at", range(1, 7))
def test_a_death_in_a_window_leaves_nothing_of_it(dies_at: int) -> None:
    """A window is one transaction: dead at its n-th statement that writes, it is sent again as if it had never come."""
    lines = log(random.Random(7), BEGIN, 80, True)
    whole = told([Window(1, "worker-0", lines, 0)])
    run = run_of()
    window = Window(1, "worker-0", lines[:60], 0)
    writes = 0

    def dying(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal writes
        is_writing = sql.startswith(("INSERT", "UPDATE"))
        writes += is_writing
        if is_writing and writes == dies_at:
            raise SystemError("killed")
        return execute(sql, *rest)

    found = read_window(matcher("maxtext"), window)
    with connection.execute_wrapper(dying), suppress(SystemError):
        take_window(run.pk, window, found)
    if writes == dies_at:  # there are fewer
        assert not LogStream.objects.filter(measurement=run.pk).exists()
    for again in (window, Window(1, "worker-0", lines[50:], 50)):
        take_window(run.pk, again, read_window(matcher("maxtext"), again))
    after = answer(run.pk, queries.now())
    assert after is not None
    assert (after.document["status"], after.picture) == whole


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=30), st.integers(0, 60), st.integers(1, 20))
def test_what_is_missing_is_what_was_not_read(ranges: list[tuple[int, int]], lower: int, size: int) -> None:
    covered: list[list[int]] = []
    numbers: set[int] = set()
    for at, long in ranges:
        covered = joined(covered, at, at + long)
        numbers |= set(range(at, at + long))
    assert {n for low, high in covered for n in range(low, high)} == numbers
    assert all(a[1] < b[0] for a, b in zip(covered, covered[1:], strict=False))
    gaps = missing(covered, lower, lower + size)
    assert [n for low, high in gaps for n in range(low, high)] == sorted(set(range(lower, lower + size)) - numbers)


@pytest.mark.parametrize(
    ("tail", "window", "known"),
    [("", "abc", 0), ("abc", "bcd", 2), ("abc", "abc", 3), ("abcde", "bcd", 3), ("abc", "xbc", 0), ("aaa", "aab", 2)],
)
def test_windows_are_joined_where_they_overlap(tail: str, window: str, known: int) -> None:
    assert overlap(tail, window) == known
