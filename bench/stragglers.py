"""How often a gang without a straggler is said to have one, and how long one that is there stays unseen.

python -m bench.stragglers [--gangs 1000] [--noises calm usual rough]

Seeded gangs of 4 to 64 workers take steps for an hour, in step with each other. A worker's own step time has noise: a
lasting difference between machines, jitter, and pauses (garbage, a slow read), all of them log-normal or rare. Each
tells the median of the steps since its last report every 30 s, at an instant of its own. The gang is looked at each
minute. Every gang is played with nobody slow, and again with one that is from the twentieth minute on.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from ledger.core.stragglers import Found, Member, Suspect, confirmed, stragglers

MINUTE, HOUR, REPORT = 60_000, 3_600_000, 30_000
SLOW_FROM = 20 * MINUTE
RATIOS = (1_100, 1_150, 1_200, 1_300, 1_500)
SLOWER = (1.2, 1.5, 2.0)
NOISES = {"calm": (0.01, 0.03, 0.002), "usual": (0.03, 0.08, 0.01), "rough": (0.06, 0.20, 0.03)}
KEPT = 5


class Gang(NamedTuple):
    """What workers would tell: by report and worker the instant, the step, and the time of a step in ms."""

    slow: int
    told: list[list[tuple[int, int, float]]]


class Played(NamedTuple):
    """Whether somebody was named who is not slow, and how many ms until the one who is was named."""

    wrong: bool
    seen: int | None


def gang_of(seed: int, noise: str) -> Gang:
    dice = random.Random(f"{seed}/{noise}")
    lasting, jitter, pauses = NOISES[noise]
    step_ms = dice.choice((400, 1_500, 6_000, 25_000))
    workers = [(dice.lognormvariate(0, lasting), dice.randrange(REPORT)) for _ in range(dice.choice((4, 8, 16, 64)))]
    slow, steps = dice.randrange(len(workers)), max(1, min(12, REPORT // step_ms))

    def tell(now: int, factor: float, offset: int) -> tuple[int, int, float]:
        own = median(own_time(dice, jitter, pauses) for _ in range(steps))
        return now - offset, (now - offset) // step_ms, step_ms * factor * own

    return Gang(slow, [[tell(now, *worker) for worker in workers] for now in range(REPORT, HOUR, REPORT)])


def own_time(dice: random.Random, jitter: float, pauses: float) -> float:
    return dice.lognormvariate(0, jitter) * (dice.uniform(2, 10) if dice.random() < pauses else 1.0)


def looks(gang: Gang, slower: float) -> Iterator[tuple[int, list[Member]]]:
    """Return minute by minute what there is to look at, when one takes `slower` times as long."""
    recent: list[list[int]] = [[] for _ in gang.told[0]]
    for number, told in enumerate(gang.told, 1):
        now = number * REPORT
        for worker, (_, _, took) in enumerate(told):
            late = slower if worker == gang.slow and now > SLOW_FROM else 1.0
            recent[worker] = [*recent[worker][1 - KEPT :], round(took * late)]
        if now % MINUTE == 0:
            yield now, [Member(worker, step, at, at, recent[worker]) for worker, (at, step, _) in enumerate(told)]


def play(gang: Gang, members: Sequence[tuple[int, list[Member]]], ratio: int, slower: float) -> Played:
    suspects: dict[int, Suspect] = {}
    wrong, seen = False, None
    for now, looked in members:
        found = {one.worker: one for one in stragglers(looked, ratio)}
        suspects = {worker: again(suspects.get(worker), one) for worker, one in found.items()}
        named = {worker for worker, suspect in suspects.items() if suspect.confirmed}
        is_slow = slower > 1 and now > SLOW_FROM
        wrong = wrong or bool(named - ({gang.slow} if is_slow else set()))
        if is_slow and seen is None and gang.slow in named:
            seen = now - SLOW_FROM
    return Played(wrong, seen)


def again(before: Suspect | None, found: Found) -> Suspect:
    return Suspect(found.at, confirmed=False) if before is None else Suspect(before.since, confirmed(before, found.at))


def main() -> None:
    """Print a table: noise and ratio down, what went wrong across."""
    parser = argparse.ArgumentParser(prog="python -m bench.stragglers", description=__doc__)
    parser.add_argument("--gangs", type=int, default=1_000, help="gangs of each noise")
    parser.add_argument("--noises", nargs="+", choices=NOISES, default=NOISES)
    asked = parser.parse_args()
    slows = " | ".join(f"{slower} × slower: missed, named after" for slower in SLOWER)
    print(f"{asked.gangs:,} gangs of each noise, each for an hour")
    print(f"| noise | ratio | false alarm in an hour | {slows} |")
    print("| --- | ---: | ---: |" + " ---: |" * len(SLOWER))
    for noise in asked.noises:
        played: dict[tuple[int, float], list[Played]] = {(r, s): [] for r in RATIOS for s in (1.0, *SLOWER)}
        for seed in range(asked.gangs):
            gang = gang_of(seed, noise)
            for slower in (1.0, *SLOWER):
                members = list(looks(gang, slower))
                for ratio in RATIOS:
                    played[ratio, slower].append(play(gang, members, ratio, slower))
        for ratio in RATIOS:
            alarms = percent([one.wrong for one in played[ratio, 1.0]])
            told = " | ".join(missed([one.seen for one in played[ratio, slower]]) for slower in SLOWER)
            print(f"| {noise} | {ratio / 1000:.2f} | {alarms} | {told} |", flush=True)


def missed(found: Sequence[int | None]) -> str:
    seen = [after for after in found if after is not None]
    named = f", {median(seen) / MINUTE:.0f} min" if seen else ""
    return percent([one is None for one in found]) + named


def percent(of: Sequence[bool]) -> str:
    return f"{100 * sum(of) / len(of):.1f} %"


if __name__ == "__main__":
    main()
