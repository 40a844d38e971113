"""Which lines of a log were read already: ranges [from, to) of line numbers, joined where they touch."""

from collections.abc import Sequence

Ranges = list[list[int]]
RANGES_MAX = 1_000


def missing(covered: Sequence[Sequence[int]], lower: int, upper: int) -> Ranges:
    """Return the parts of [lower, upper) that are not covered."""
    found, at = [], lower
    for low, high in covered:
        if high <= at:
            continue
        if low >= upper:
            break
        if low > at:
            found.append([at, low])
        at = max(at, high)
    if at < upper:
        found.append([at, upper])
    return found


def joined(covered: Sequence[Sequence[int]], lower: int, upper: int) -> Ranges:
    """Return the ranges with [lower, upper) among them. The smallest gaps are given up when there are too many."""
    result: Ranges = []
    for low, high in sorted([*map(list, covered), [lower, upper]]):
        if result and low <= result[-1][1]:
            result[-1][1] = max(result[-1][1], high)
        else:
            result.append([low, high])
    while len(result) > RANGES_MAX:
        gaps = [(result[at + 1][0] - result[at][1], at) for at in range(len(result) - 1)]
        _, at = min(gaps)
        result[at : at + 2] = [[result[at][0], result[at + 1][1]]]
    return result
