"""Compares timelines of the ledger with those of `expected.json`, instant by instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from ledger.queries.timelines import Timeline

TOLERANCE = 2_000
EVERY = 250


class Stretch(NamedTuple):
    """GPUs in a category on a node ("": not held), in ms; `open`: another reading can be held too."""

    since: int
    to: int
    node: str
    category: str
    gpus: int
    open: bool = False


def wanted(job: dict[str, Any]) -> list[Stretch]:
    """Return the stretches of a job of `expected.json`."""
    return [
        Stretch(
            each["from"] * 1000, each["to"] * 1000, each["node"] or "", each["category"], each["gpus"], "open" in each
        )
        for each in job["timeline"]
    ]


def found(timeline: Timeline) -> list[Stretch]:
    """Return the stretches that the ledger has of a run."""
    return [
        Stretch(
            each.since, each.to or 0, each.machine if each.held else "", each.category.label, each.gpus_milli // 1000
        )
        for _, lane in timeline.workers
        for each in lane
    ]


def at(stretches: Iterable[Stretch], instant: int) -> Counter[tuple[str, str]]:
    """Return the GPUs by node and category at an instant."""
    total: Counter[tuple[str, str]] = Counter()
    for each in stretches:
        if each.since <= instant < each.to:
            total[each.node, each.category] += each.gpus
    return total


def differences(want: list[Stretch], have: list[Stretch]) -> list[str]:
    """Return where the two differ, further than the tolerance from each edge and outside of what is open."""
    edges = {edge for each in want for edge in (each.since, each.to)}
    opened = [(each.since - TOLERANCE, each.to + TOLERANCE) for each in want if each.open]
    begin = min((each.since for each in (*want, *have)), default=0)
    end = max((each.to for each in (*want, *have)), default=0)
    told = []
    for instant in range(begin, end, EVERY):
        near = any(abs(instant - edge) <= TOLERANCE for edge in edges)
        if near or any(since <= instant < to for since, to in opened):
            continue
        if (one := at(want, instant)) != (other := at(have, instant)):
            told.append(f"at {(instant - begin) / 1000:.2f} s: expected {dict(one)}, found {dict(other)}")
    return told


def held(stretches: Iterable[Stretch]) -> int:
    """Return the GPU-milliseconds held."""
    return sum((each.to - each.since) * each.gpus for each in stretches if each.node)
