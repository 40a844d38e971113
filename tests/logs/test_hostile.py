"""Patterns that explode, lines that are none, logs without end: no crash, no hang, no memory."""

import random
import tracemalloc
from time import perf_counter, process_time
from typing import Any

import pytest

from ledger.logs.builtin import BUILTIN, matcher
from ledger.logs.matching import Matcher
from ledger.logs.profiles import BadProfile, parse
from ledger.logs.reader import Lines, read_lines
from ledger.logs.streams import Stream, fold
from ledger.logs.trying import trial, trial_as_json

ATOMS = (
    "a", "b", ".", r"\d", r"\w", r"\s", r"\pL", "[ab]", "[^a]", "(a)", "(?:a|b)", "(?P<globalStep>\\d+)", "^", "$", r"\b",  # noqa: E501
    "(?=a)", "(?!a)", "(?<=a)", r"\1", "(?P<x>a)", "\\", "[", "(", ")", "é", "\U0001f600", "(?i)", "(?s)", r"\Qa.b\E", r"\C",  # noqa: E501
)  # fmt: skip
TIMES = ("", "", "*", "+", "?", "{3}", "{0,30}", "{1000}", "{1000}{1000}", "**", "*?", "{2,1}", "{99999}")
LINE_SECONDS = 0.05
EVIL = (b"a" * 8192, b"ab" * 4096, b"a" * 8191 + b"b", b"\xff\x00" * 4096, "é".encode() * 4096, b" " * 8192)
PIECES = (
    b"iteration ", b"completed step: ", b"12", b"/", b" | ", b"1e309", b"9" * 400, b"-1", b"NaN", b"elapsed time per iteration (ms): ",  # noqa: E501
    b"\x1b[31m", b"\x1b[", b"\x1b]0;", b"\r", b"\x00", b"\xff\xfe", b":::MLLOG {", b'"time_ms": 99999999999999999999,', b"loss: ",  # noqa: E501
    b"2026-10-01T12:00:00Z ", b"2026-99-99T99:99:99Z ", b"[2021-05-25 06:38:26,358] [INFO] ", b"seconds: ", b", TFLOP/s/device: ",  # noqa: E501
    b'"key": "run_start"', b"global_step: ", b"train_step_timing in s: ", b"%|", b"[00:58<14:41, 58.76s/it]", b"e" * 9000, b"\n",  # noqa: E501
)  # fmt: skip


def explosive(dice: random.Random) -> str:
    def part(depth: int) -> str:
        made = "".join(dice.choice(ATOMS) + dice.choice(TIMES) for _ in range(dice.randrange(1, 5)))
        return f"({part(depth - 1)}{made}){dice.choice(TIMES)}" if depth and dice.random() < 0.6 else made

    return part(dice.randrange(6))


def made_of(spec: Any) -> Matcher | None:
    """Return what reads by a spec; None when it is refused, which names the pattern."""
    try:
        return Matcher(parse(spec))
    except BadProfile as error:
        if not error.field.startswith("spec.patterns.trainingStep"):
            raise
        return None


def refused_or_quick(seed: int, count: int) -> tuple[int, float]:
    """Return how many patterns were taken, and the longest CPU time of one line by one of them."""
    dice, taken, longest = random.Random(seed), 0, 0.0
    for _ in range(count):
        spec = {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": explosive(dice)}}}
        made = made_of(spec)
        if made is None:
            continue
        taken += 1
        for line in EVIL:
            quickest = LINE_SECONDS * 2
            for _ in range(3):  # the quickest of three: others use the machine too
                began = process_time()
                made.matches(line)
                quickest = min(quickest, process_time() - began)
                if quickest < LINE_SECONDS / 5:
                    break
            longest = max(longest, quickest)
    return taken, longest


def test_a_thousand_bad_or_explosive_patterns() -> None:
    taken, longest = refused_or_quick(1, 1_000)
    assert 100 < taken < 900
    assert longest < LINE_SECONDS


@pytest.mark.soak
def test_ten_thousand_patterns() -> None:
    _, longest = refused_or_quick(2, 10_000)
    assert longest < LINE_SECONDS


@pytest.mark.parametrize(
    "regex", [r"[ab]*a[ab]{400}c", "(?:(?:a{0,30}){0,30}){0,1}b", "(?:a?){1000}a{500}b", r"a{1000}{1000}"]
)
def test_what_would_be_slow_is_refused(regex: str) -> None:
    with pytest.raises(BadProfile, match=r"spec.patterns.trainingStep.regex: (is too large|does not compile)"):
        Matcher(parse({"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": regex}}}))


def fuzzed(dice: random.Random) -> bytes:
    return b"".join(dice.choices(PIECES, k=dice.randrange(1, 9)))


def fuzz(seed: int, count: int) -> None:
    dice = random.Random(seed)
    names = list(BUILTIN)
    lines = [line for _ in range(count) for line in fuzzed(dice).split(b"\n")]
    for begin in range(0, len(lines), 2_000):
        by = matcher(dice.choice(names))
        part = lines[begin : begin + 2_000]
        began = perf_counter()
        found = read_lines(by, part)
        assert perf_counter() - began < LINE_SECONDS * len(part)
        folded = fold(by.profile, [Stream(1, "w", lambda f=found: f.events)], {})
        assert folded.lost >= 0
        assert folded.skew >= 0


def test_twenty_thousand_fuzzed_lines() -> None:
    fuzz(3, 20_000)


@pytest.mark.soak
def test_a_million_fuzzed_lines() -> None:
    fuzz(4, 1_000_000)


def test_fuzzed_lines_are_tried() -> None:
    dice = random.Random(5)
    for name in BUILTIN:
        lines = [line for _ in range(60) for line in fuzzed(dice).split(b"\n")]
        trial_as_json(trial(matcher(name), lines), matcher(name))


@pytest.mark.parametrize("document", [
    None, [], 1, "x", {}, {"spec": 1}, {"kind": "Pod", "spec": {}}, {"spec": {"timestamp": {}}},
    {"timestamp": {"layout": "15:04"}, "patterns": {"trainingStep": {"regex": "x"}}},
    {"timestamp": {"layout": "2006-01-02 15:04 2006"}, "patterns": {"trainingStep": {"regex": "x"}}},
    {"timestamp": {"layout": "RFC3339", "timeZone": "Mars/Base"}, "patterns": {"trainingStep": {"regex": "x"}}},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": "x"}},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": "x\ud800"}}},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": "x"}}, "logInterval": 0},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": "x"}}, "warmupSteps": True},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": "x"}}, "workerStrategy": "Some"},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": "x"}}, "lifecyclePod": "second"},
    {"timestamp": {"layout": "RFC3339"}, "patterns": {"trainingStep": {"regex": "x"}}, "surprise": 1},
])  # fmt: skip
def test_what_is_no_profile(document: Any) -> None:
    with pytest.raises(BadProfile):
        Matcher(parse(document))


def big(megabytes: int) -> int:
    """Read a log of that size and return the most memory that it took, in bytes."""
    line = (
        b"2026-10-01 12:00:%02d completed step: %d, seconds: 5.658, TFLOP/s/device: 135.158, Tokens/s/device: 8687.8\n"
    )
    noise = b"some other words that a trainer says between its steps, and says again and again\n" * 50
    joiner, by, steps = Lines(), matcher("maxtext"), 0
    tracemalloc.start()
    for number in range(megabytes * 1024 * 1024 // (len(noise) + len(line))):
        piece = noise + line % (number % 60, number)
        steps += len(read_lines(by, joiner.feed(piece)).events)
    steps += len(read_lines(by, joiner.end()).events)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert steps == number + 1
    return peak


def test_a_log_takes_no_memory() -> None:
    assert big(24) < 4 * 1024 * 1024


def test_a_line_without_end_takes_no_memory() -> None:
    joiner = Lines()
    for _ in range(400):
        assert sum(map(len, joiner.feed(b"x" * 65_536))) <= 1024 * 1024
        assert len(joiner.rest) < 1024 * 1024
    assert joiner.feed(b"\nnext\n")[-1] == b"next"
    assert joiner.cut == 1


@pytest.mark.soak
def test_a_gigabyte_takes_no_memory() -> None:
    assert big(1024) < 4 * 1024 * 1024
