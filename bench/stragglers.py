"""How often a gang without a straggler is said to have one, and how long one that is there stays unseen.

python -m bench.stragglers [--gangs 1000]

Seeded gangs of 4 to 64 workers take steps for an hour, in step with each other. A worker's own step time has noise: a
lasting difference between machines, jitter, and pauses (garbage, a slow read), all of them log-normal or rare. Each
tells the median of the steps since its last report every 30 s, at an instant of its own, late by up to 5 s. The gang is
looked at each minute. In half of the gangs nobody is slow, in the other half one is from the twentieth minute on.
"""

import argparse
import random
from dataclasses import dataclass, field
from statistics import median

from ledger.core.stragglers import Found, Member, Suspect, confirmed, stragglers

MINUTE, HOUR, REPORT = 60_000, 3_600_000, 30_000
SLOW_FROM = 20 * MINUTE
RATIOS = (1_100, 1_150, 1_200, 1_300)
NOISES = {"calm": (0.01, 0.03, 0.002), "usual": (0.03, 0.08, 0.01), "rough": (0.06, 0.20, 0.03)}


@dataclass
class Worker:
    """One of a gang: its lasting factor, when it reports, and what it has told."""

    factor: float
    offset: int
    recent: list[int] = field(default_factory=list)
    step: int = 0
    at: int = 0


def play(seed: int, noise: str, ratio: int, slower: float) -> tuple[bool, int | None]:
    """Return (whether somebody was named who is not slow, ms until the one who is was named)."""
    dice = random.Random(f"{seed}/{noise}")
    lasting, jitter, pauses = NOISES[noise]
    step_ms = dice.choice((400, 1_500, 6_000, 25_000))
    gang = [Worker(dice.lognormvariate(0, lasting), dice.randrange(REPORT)) for _ in range(dice.choice((4, 8, 16, 64)))]
    slow = dice.randrange(len(gang))
    suspects: dict[int, Suspect] = {}
    wrong, seen = False, None
    for now in range(REPORT, HOUR, REPORT):
        for number, worker in enumerate(gang):
            late = slower if number == slow and now > SLOW_FROM else 1.0
            steps = max(1, min(12, REPORT // step_ms))
            times = [step_ms * worker.factor * late * own(dice, jitter, pauses) for _ in range(steps)]
            worker.recent = [*worker.recent[-4:], round(median(times))]
            worker.at = now - worker.offset
            worker.step = worker.at // step_ms
        if now % MINUTE == 0:
            found = {one.worker: one for one in stragglers(map(member, enumerate(gang)), ratio)}
            suspects = {worker: again(suspects.get(worker), one) for worker, one in found.items()}
            named = {worker for worker, suspect in suspects.items() if suspect.confirmed}
            wrong = wrong or bool(named - ({slow} if slower > 1 and now > SLOW_FROM else set()))
            if slow in named and now > SLOW_FROM and seen is None:
                seen = now - SLOW_FROM
    return wrong, seen


def own(dice: random.Random, jitter: float, pauses: float) -> float:
    return dice.lognormvariate(0, jitter) * (dice.uniform(2, 10) if dice.random() < pauses else 1.0)


def member(of: tuple[int, Worker]) -> Member:
    number, worker = of
    return Member(number, worker.step, worker.at, worker.at, worker.recent)


def again(before: Suspect | None, found: Found) -> Suspect:
    return Suspect(found.at, confirmed=False) if before is None else Suspect(before.since, confirmed(before, found.at))


def main() -> None:
    """Print a table: noise and ratio down, what went wrong across."""
    parser = argparse.ArgumentParser(prog="python -m bench.stragglers", description=__doc__)
    parser.add_argument("--gangs", type=int, default=1_000)
    gangs = parser.parse_args().gangs
    print("| noise | ratio | false alarm in an hour | 1.5 × slower: missed | named after | 1.2 × slower: missed |")
    print("| --- | --- | --- | --- | --- | --- |")
    for noise in NOISES:
        for ratio in RATIOS:
            calm = [play(seed, noise, ratio, 1.0)[0] for seed in range(gangs)]
            half = [play(seed, noise, ratio, 1.5)[1] for seed in range(gangs // 2)]
            fifth = [play(seed, noise, ratio, 1.2)[1] for seed in range(gangs // 2)]
            seen = [after for after in half if after is not None]
            named = f"{median(seen) / MINUTE:.0f} min" if seen else "–"
            alarms = f"{100 * sum(calm) / gangs:.1f} %"
            print(
                f"| {noise} | {ratio / 1000:.2f} | {alarms} | {missed(half)} | {named} | {missed(fifth)} |", flush=True
            )


def missed(found: list[int | None]) -> str:
    return f"{100 * sum(one is None for one in found) / len(found):.1f} %"


if __name__ == "__main__":
    main()
