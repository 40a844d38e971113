"""Stragglers: slower than the gang, or behind it; only ever on the side of saying nothing."""

import csv
from collections import defaultdict
from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.core.stragglers import LASTS_MS, Found, Member, Suspect, confirmed, cost_milli, stragglers

TRACE = Path(__file__).parents[3] / "shared/data/traces/alibaba_v2020_minibatch_job_1_norm.csv"
SECOND, MINUTE = 1_000, 60_000


def gang(*paces: int, step: int = 100, at: int = MINUTE) -> list[Member]:
    return [Member(worker, step, at, at, [pace] * 5) for worker, pace in enumerate(paces)]


def slow(*paces: int, from_milli: int = 1_300) -> list[int]:
    return [found.worker for found in stragglers(gang(*paces), from_milli)]


@pytest.mark.parametrize(
    ("paces", "wanted"),
    [
        ((1_000, 1_000, 1_300), [2]),
        ((1_000, 1_000, 1_299), []),
        ((1_000, 1_000, 1_000), []),
        ((1_000, 2_000), []),  # no gang of three
        ((1_000, 1_000, 2_000, 2_000, 1_000), [2, 3]),
        ((1_000, 1_002, 1_301, 900), []),  # the median is 1001: 1301.3 would be slow
        ((1_000, 1_002, 1_302, 900), [2]),
        ((0, 0, 500), []),  # nothing can be told of steps that take no time
        ((1_000, 1_000, 10), []),
    ],
)
def test_slow_is_from_the_ratio_of_the_gangs_median_on(paces: tuple[int, ...], wanted: list[int]) -> None:
    assert slow(*paces) == wanted


def test_the_ratio_is_the_clusters() -> None:
    assert slow(1_000, 1_000, 1_100, from_milli=1_100) == [2]


def test_one_slow_step_of_five_is_none_nor_are_two() -> None:
    members = gang(1_000, 1_000, 1_000)
    spikes = [1_000, 9_000, 1_000, 9_000, 1_000]
    assert stragglers([*members[:2], members[2]._replace(recent=spikes)], 1_300) == []
    spikes[0] = 9_000
    assert stragglers([*members[:2], members[2]._replace(recent=spikes)], 1_300) == [Found(2, MINUTE, 9_000, 1_000, 0)]


def test_who_has_told_less_than_five_step_times_is_not_judged_and_judges_nobody() -> None:
    members = gang(1_000, 1_000, 2_000)
    assert stragglers([*members[:2], members[2]._replace(recent=[2_000] * 4)], 1_300) == []
    assert stragglers([members[0]._replace(recent=[1_000] * 4), *members[1:]], 1_300) == []


def behind(*said: tuple[int, int, int], pace: int = 10 * SECOND) -> list[tuple[int, int]]:
    """Return (worker, steps behind) of workers: their step, when they were sampled, when they got there."""
    members = [Member(worker, step, at, since, [pace] * 5) for worker, (step, at, since) in enumerate(said)]
    return [(found.worker, found.behind) for found in stragglers(members, 1_300)]


NOW, LONG_AGO = 10 * MINUTE, 0


def test_two_steps_behind_the_median_is_behind() -> None:
    assert behind((50, NOW, NOW), (50, NOW, NOW), (48, NOW, LONG_AGO)) == [(2, 2)]
    assert behind((50, NOW, NOW), (50, NOW, NOW), (49, NOW, LONG_AGO)) == []
    assert behind((50, NOW, NOW), (40, NOW, NOW), (40, NOW, LONG_AGO)) == []  # one is ahead, none is behind


def test_who_was_looked_at_earlier_is_not_behind() -> None:
    later = NOW + MINUTE  # six steps on
    assert behind((56, later, later), (56, later, later), (50, NOW, NOW)) == []
    assert behind((58, later, later), (58, later, later), (50, NOW, NOW)) == []  # they may have hurried
    assert behind((62, later, later), (62, later, later), (50, NOW, NOW)) == [(2, 3)]


def test_who_only_repeats_its_step_is_behind_who_went_on() -> None:
    assert behind((56, NOW, NOW), (56, NOW - 1, NOW - 1), (50, NOW, LONG_AGO)) == [(2, 6)]


def test_a_gang_that_hangs_together_has_no_straggler() -> None:
    assert behind(*[(50, NOW, LONG_AGO)] * 4) == []


@given(st.randoms(use_true_random=False))
def test_who_is_behind_is_found_without_looking_at_everybody(dice: Random) -> None:
    """Against each compared with each, which takes a gang of thousands too long."""
    told = [(dice.randrange(60), dice.randrange(60) * SECOND) for _ in range(dice.randrange(3, 40))]
    members = [
        Member(
            worker, step, MINUTE + at, MINUTE + at - dice.choice((0, 0, 20_000)), [dice.choice((900, 1_000, 7_000))] * 5
        )
        for worker, (step, at) in enumerate(told)
    ]
    wanted = {one.worker: lacks for one in members if (lacks := each_with_each(one, members)) >= 2}
    found = {one.worker: one.behind for one in stragglers(members, 100_000)}
    assert found == wanted


def each_with_each(one: Member, members: list[Member]) -> int:
    """By how many steps half of a gang was ahead of one of it, at its sample."""
    steps = sorted(
        other.step - max(0, ceil(Fraction(3 * (other.progress_at - one.step_at), 2 * other.recent[0])))
        for other in members
    )
    return steps[(len(steps) - 1) // 2] - one.step


def test_it_is_one_after_three_minutes() -> None:
    assert not confirmed(Suspect(0, confirmed=False), LASTS_MS - 1)
    assert confirmed(Suspect(0, confirmed=False), LASTS_MS)
    assert confirmed(Suspect(0, confirmed=True), 1)


def test_what_it_costs_the_gang_is_the_part_of_each_step_that_it_waits() -> None:
    assert cost_milli(32_000, 2_000, 1_000) == 16_000
    assert cost_milli(32_000, 1_000, 1_000) == 0
    assert cost_milli(32_000, 1_000, 2_000) == 0


@cache
def trace() -> dict[int, list[tuple[int, int]]]:
    """Return by worker the samples of a real job: (instant in ms, time of a mini-batch)."""
    samples: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in csv.DictReader(TRACE.read_text().splitlines()):
        samples[int(row["worker"])].append((int(row["time"]) * SECOND, int(row["batch_time_norm"])))
    assert (len(samples), sum(map(len, samples.values()))) == (10, 3_000)
    return samples


def named_in_trace(slow_milli: int, every: int, first: int) -> set[int]:
    """Return who is named when the job is looked at from `first` on, `every` so many ms."""
    suspects: dict[int, Suspect] = {}
    samples = trace()
    named = set()
    for now in range(first, 51 * MINUTE, every):
        members = []
        for worker, told in samples.items():
            seen = [one for one in told if one[0] <= now]
            members.append(Member(worker, len(seen), seen[-1][0], seen[-1][0], [pace for _, pace in seen[-5:]]))
        found = {one.worker: one for one in stragglers(members, slow_milli)}
        suspects = {worker: again(suspects.get(worker), one) for worker, one in found.items()}
        named |= {worker for worker, suspect in suspects.items() if suspect.confirmed}
    return named


def again(before: Suspect | None, found: Found) -> Suspect:
    return Suspect(found.at, confirmed=False) if before is None else Suspect(before.since, confirmed(before, found.at))


@pytest.mark.parametrize("slow_milli", [1_080, 1_095])
def test_worker_0_of_the_real_job_is_the_straggler_and_no_other(slow_milli: int) -> None:
    """It is a tenth slower than the median; three others come near, but never for three minutes."""
    assert named_in_trace(slow_milli, every=10 * SECOND, first=MINUTE) == {0}


def test_it_is_at_whatever_second_of_the_minute_one_looks() -> None:
    assert [named_in_trace(1_095, MINUTE, MINUTE + late * SECOND) for late in range(60)] == [{0}] * 60


@pytest.mark.parametrize(("slow_milli", "wanted"), [(1_050, {0, 1, 2}), (1_120, set()), (1_300, set())])
def test_three_of_it_are_a_tenth_slower_and_nobody_three_tenths(slow_milli: int, wanted: set[int]) -> None:
    """One is 1.3 times as slow for a minute; docs/decisions/stragglers.md says why the ratio stays what it is."""
    looks = [named_in_trace(slow_milli, MINUTE, MINUTE + late * SECOND) for late in range(0, 60, 5)]
    assert looks == [wanted] * 12
    if slow_milli == 1_300:
        assert named_in_trace(slow_milli, every=10 * SECOND, first=MINUTE) == set()
