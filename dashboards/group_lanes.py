"""The timeline of many workers: a lane for each group of them, which shows how their GPU time is shared out.

Made by f-string like the lanes of single workers; names are escaped.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from django.utils.html import escape

from dashboards.bars import Markup, percent
from dashboards.lanes import HEIGHT, RECTS_MAX
from ledger.core.categories import Category
from ledger.queries import Change

GROUP = 40  # workers in a group
BUCKETS, BUCKETS_MIN = 80, 5


class Line(NamedTuple):
    """A group's GPU time of a category, held or not: `amounts` of each column, milli-GPUs × ms."""

    category: Category
    held: bool
    amounts: Sequence[int]


class Step(NamedTuple):
    """Columns that look the same: the first of them, how many, and the height of each line, in pixels of HEIGHT."""

    first: int
    wide: int
    heights: tuple[int, ...]


def column_of(length: int) -> int:
    """Return how long a column of a timeline of `length` is, both in ms."""
    return -(-length // BUCKETS)


def group_pictures(count: int, changes: Sequence[Change], size: int) -> list[Markup]:
    """Return a picture for each of `count` groups, with as many columns as the page can carry; `size` as column_of."""
    groups: list[list[Line]] = [[] for _ in range(count)]
    for (group, category, held), of_line in groupby(changes, lambda change: change[:3]):
        groups[group].append(Line(category, held, columns(of_line, size)))
    groups = [sorted(lines, key=lambda line: not line.held) for lines in groups]  # held first
    told, many = [summed(lines) for lines in groups], BUCKETS
    while (drawn := within(groups, RECTS_MAX if many > BUCKETS_MIN else None)) is None:
        groups, many = [halved(lines) for lines in groups], many // 2
    return [
        Markup(f'<svg class="lane group" role="img" aria-label="{escape(said)}">{picture(lines, each, many)}</svg>')
        for said, lines, each in zip(told, groups, drawn, strict=True)
    ]


def columns(changes: Iterator[Change], size: int) -> list[int]:
    """Return what a line has in each of BUCKETS columns of `size` ms."""
    amounts, more = [0] * BUCKETS, [0] * (BUCKETS + 1)  # `more` GPUs fill a column and those after it
    for change in changes:
        if change.column < BUCKETS:
            amounts[change.column] += change.amount
            more[change.column + 1] += change.gpus_milli
    return [amount + full * size for amount, full in zip(amounts, accumulate(more), strict=False)]


def within(groups: Sequence[Sequence[Line]], most: int | None) -> list[list[Step]] | None:
    """Return what to draw of each group; None when that is more than `most` rectangles."""
    drawn: list[list[Step]] = []
    rects = 0
    for lines in groups:
        drawn.append(list(steps(lines)))
        rects += sum(sum(map(bool, step.heights)) for step in drawn[-1])
        if most is not None and rects > most:
            return None
    return drawn


def halved(lines: Sequence[Line]) -> list[Line]:
    """Return half as many columns, each the sum of two."""
    return [
        line._replace(amounts=[a + b for a, b in zip(line.amounts[::2], line.amounts[1::2], strict=True)])
        for line in lines
    ]


def steps(lines: Sequence[Line]) -> Iterator[Step]:
    """Yield what to draw; the fullest column of the group takes the whole height."""
    top = max(map(sum, zip(*(line.amounts for line in lines), strict=True)), default=0)
    if not top:
        return
    heights = [[amount * HEIGHT // top for amount in line.amounts] for line in lines]
    first = 0
    for shape, same in groupby(zip(*heights, strict=True)):
        wide = len(list(same))
        yield Step(first, wide, shape)
        first += wide


def picture(lines: Sequence[Line], drawn: Sequence[Step], many: int) -> str:
    """Return the rectangles of a group on `many` columns, stacked from below."""
    kinds = [f"{'k' if line.held else 'u'}{line.category}" for line in lines]
    return "".join(rects(step, kinds, many) for step in drawn)


def rects(step: Step, kinds: Sequence[str], many: int) -> str:
    """Return the rectangles of some columns."""
    found, y = "", HEIGHT
    x, width = percent(step.first * 100_000 // many), percent(step.wide * 100_000 // many)
    for kind, height in zip(kinds, step.heights, strict=True):
        if height:
            y -= height
            found += f'<rect class="{kind}" x="{x}" width="{width}" y="{y}" height="{height}"/>'
    return found


def summed(lines: Sequence[Line]) -> str:
    """Say a group in words: each category's share of its GPU time."""
    sums = dict.fromkeys(Category, 0)
    for line in lines:
        sums[line.category] += sum(line.amounts)
    whole = sum(sums.values())
    return ", ".join(f"{c.label} {round(s * 100 / whole)} %" for c, s in sums.items() if s) or "no time"
