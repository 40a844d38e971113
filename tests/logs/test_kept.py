"""A fold that is kept and gone on with is the one that is made from the first line on, whatever comes in between."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from ledger.logs.builtin import BUILTIN
from ledger.logs.profiles import parse
from ledger.logs.terms import Attempt
from ledger.measuring import folds
from ledger.measuring.answers import known_of
from ledger.measuring.windows import Window, read_window, take_window
from ledger.models import LogFold, Measurement
from tests.logs.reading import varied
from tests.logs.test_windows import BEGIN, cut, log, run_of

STRATEGIES: list[dict[str, Any]] = [
    {},
    {"workerStrategy": {"type": "Multi", "lifecyclePod": "first", "trainingStepPod": "last"}},
]


def windows_of(dice: random.Random) -> list[Window]:
    """The logs of a run's attempts and workers, cut, overlapping, some twice; about in the order of their lines."""
    found: list[tuple[float, Window]] = []
    for attempt in range(1, dice.randrange(2, 5)):
        for worker in range(dice.choice((1, 1, 2, 3))):
            numbered = dice.random() < 0.5
            timed = not numbered and dice.random() < 0.8
            lines = log(dice, BEGIN + attempt * 4_000_000_000, dice.randrange(1, 80), timed)
            pieces = cut(dice, lines, numbered, attempt)
            late = dice.choice((0.0, 0.0, 2.0, 40.0))
            for at, one in enumerate(pieces):
                piece = Window(attempt, f"worker-{worker}", one.lines, one.first)
                found.append((attempt * 40 + at + dice.uniform(0, late), piece))
    return [window for _, window in sorted(found, key=lambda pair: pair[0])]


class AnyReads(TestCase):
    """On Postgres."""

    @settings(max_examples=40)
    @given(st.integers(0, 10**9))
    def test_each_read_says_what_the_whole_log_says(self, seed: int) -> None:
        dice = random.Random(seed)
        spec = dice.choice(STRATEGIES)
        run, by = run_of(), varied("maxtext", **spec)
        told: dict[int, Attempt] = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(folds, "HELD", dice.choice((1, 5, 30)))
            for window in windows_of(dice):
                take_window(run.pk, window, read_window(by, window))
                if dice.random() < 0.1:  # the source says when an attempt began and ended
                    began = BEGIN + window.attempt * 4_000_000_000 - dice.randrange(3) * 60_000_000
                    told[window.attempt] = Attempt(began, dice.choice((None, began + 3_600_000_000)))
                if dice.random() < 0.4:
                    known = {
                        n: Attempt(told.get(n, one).began, told.get(n, one).ended, one.last_line, one.lines)
                        for n, one in {**told, **known_of(run.pk)}.items()
                    }
                    assert folds.folded(run.pk, by.profile, known) == folds.whole(run.pk, by.profile, known), seed


@pytest.mark.django_db
def test_a_read_costs_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of windows that come in order none is unpacked again once its rows are taken."""
    run, by = run_of(), varied("maxtext")
    lines = log(random.Random(3), BEGIN, 3_000, True)
    read: list[int] = []
    unpacked = folds.unpacked

    def counted(packed: bytes, first: int) -> Any:
        read.append(first)
        return unpacked(packed, first)

    monkeypatch.setattr(folds, "unpacked", counted)
    monkeypatch.setattr(folds, "HELD", 100)
    seen = []
    for first in range(0, len(lines), 50):
        window = Window(1, "worker-0", lines[first : first + 50])
        take_window(run.pk, window, read_window(by, window))
        read.clear()
        folds.folded(run.pk, by.profile, known_of(run.pk))
        seen.append(len(read))
    assert max(seen) <= 12
    assert sum(seen) <= 12 * len(seen)


@pytest.mark.django_db
def test_a_fold_of_other_code_is_made_anew_and_a_frozen_one_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    from ledger.measuring.answers import freeze

    run, by = run_of(), varied("maxtext")
    monkeypatch.setattr(folds, "HELD", 10)
    window = Window(1, "worker-0", log(random.Random(3), BEGIN, 100, True))
    take_window(run.pk, window, read_window(by, window))
    found = folds.folded(run.pk, by.profile, known_of(run.pk))
    kept = LogFold.objects.get()
    assert kept.form == folds.FORM
    LogFold.objects.update(form="of before", packed=b"what nobody reads any more")
    assert folds.folded(run.pk, by.profile, known_of(run.pk)) == found
    assert LogFold.objects.get().form == folds.FORM
    freeze(run.pk, BEGIN // 1_000)
    assert Measurement.objects.get().frozen is not None
    assert not LogFold.objects.exists()


def test_what_a_profile_says_of_workers_is_read() -> None:
    assert [parse(BUILTIN["maxtext"]["spec"] | spec).strategy.kind for spec in STRATEGIES] == ["Single", "Multi"]
