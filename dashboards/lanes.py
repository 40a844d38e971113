"""The timeline of a run: a lane a worker, drawn as SVG; `group_lanes` has those of many.

Made by f-string like the bars; names are escaped.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.html import escape

from dashboards.bars import Markup, percent
from dashboards.moments import day_and_clock, length, moment, zone, zone_name
from dashboards.numbers import gpus
from dashboards.zoom import Zoom
from ledger.core.categories import Category
from ledger.queries import Segment

HEIGHT = 20
RECTS_MAX = 400
FINEST, COARSEST = 200, 12_000  # thousandths of a percent of the width

Workers = Sequence[tuple[str, tuple[Segment, ...]]]


class Piece(NamedTuple):
    """What one rectangle shows: [since, to), ms, the segments in it, and that with most time of it."""

    since: int
    to: int
    most: Segment
    parts: tuple[Segment, ...]


@dataclass(frozen=True)
class Lane:
    """A line of the timeline: a worker, or a group (`href` opens or folds it; `is_open`: its workers follow)."""

    name: str
    detail: str
    picture: Markup
    href: str = ""
    is_open: bool = False
    in_group: bool = False


def natural(name: str) -> list[tuple[int, str]]:
    """Return what orders names by their numbers: worker-2 before worker-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name[:253])]


def single_lanes(workers: Workers, zoom: Zoom, until: int, now: int, *, in_group: bool = False) -> list[Lane]:
    """Return a lane a worker, with as much detail as the page can carry; what goes on is drawn up to `until`."""
    finest = FINEST
    while (cut := within(workers, grain_of(finest, zoom), until, RECTS_MAX if finest <= COARSEST else None)) is None:
        finest += finest // 2
    return [Lane(name, machines(found), lane(name, found, zoom, now), in_group=in_group) for name, found in cut]


def grain_of(finest: int, zoom: Zoom) -> int:
    """Return in ms what is too short to be drawn by itself."""
    return max(zoom.length * finest // 100_000, 1)


def within(workers: Workers, grain: int, until: int, most: int | None) -> list[tuple[str, list[Piece]]] | None:
    """Return what to draw of each worker; None when that is more than `most` pieces."""
    cut: list[tuple[str, list[Piece]]] = []
    count = 0
    for name, segments in workers:
        cut.append((name, list(pieces(segments, grain, until))))
        count += len(cut[-1][1])
        if most is not None and count > most:
            return None
    return cut


def pieces(segments: Iterable[Segment], grain: int, until: int) -> Iterator[Piece]:
    """Yield what to draw: neighbours shorter than `grain` ms are drawn as one, by what took most of their time."""

    def ending(segment: Segment) -> int:
        return until if segment.to is None else segment.to

    waiting: list[Segment] = []
    for segment in segments:
        if waiting and (segment.since - waiting[0].since >= grain or segment.since > ending(waiting[-1])):
            yield piece(waiting, ending)
            waiting = []
        if ending(segment) - segment.since >= grain:
            if waiting:
                yield piece(waiting, ending)
                waiting = []
            yield Piece(segment.since, ending(segment), segment, (segment,))
        else:
            waiting.append(segment)
    if waiting:
        yield piece(waiting, ending)


def piece(parts: list[Segment], ending: Callable[[Segment], int]) -> Piece:
    """Return neighbours as one."""
    spent: Counter[Category] = Counter()
    for part in parts:
        spent[part.category] += ending(part) - part.since
    category = spent.most_common(1)[0][0]
    most = max((part for part in parts if part.category is category), key=lambda part: ending(part) - part.since)
    return Piece(parts[0].since, ending(parts[-1]), most, tuple(parts))


def machines(found: Sequence[Piece]) -> str:
    """Return the last machine that is in the lane."""
    held = [part.machine for piece in found for part in piece.parts if part.held]
    return held[-1] if held else ""


def lane(name: str, found: Iterable[Piece], zoom: Zoom, now: int) -> Markup:
    """Return a worker's lane; each rectangle tells its exact instants."""
    rects = "".join(
        rect(p, now, *place(p.since, p.to, zoom)) for p in found if p.to > zoom.start and p.since < zoom.end
    )
    return Markup(f'<svg class="lane" role="img" tabindex="0" aria-label="Timeline of {escape(name)}">{rects}</svg>')


def rect(p: Piece, now: int, x: int, width: int) -> str:
    """Return the rectangle of a piece, `x` and `width` in thousandths of a percent."""
    kind = f"{'k' if p.most.held else 'u'}{p.most.category}{' unseen' if p.most.unobserved else ''}"
    return (
        f'<rect class="{kind}" x="{percent(x)}" width="{percent(width)}"><title>{escape(told(p, now))}</title></rect>'
    )


def place(since: int, to: int, zoom: Zoom) -> tuple[int, int]:
    """Return where [since, to) lies: from where and how wide, in thousandths of a percent."""
    first, last = ((min(max(at, zoom.start), zoom.end) - zoom.start) * 100_000 // zoom.length for at in (since, to))
    return first, max(last - first, 60)


def told(found: Piece, now: int) -> str:
    """Say what a rectangle is: "idle, 28 Nov 12:41:03 – 13:07:00 UTC (26 min), gpu-9 h100, attempt 2, 8 GPUs"."""
    most = found.most
    when = f"{exact(found.since, now)} – {exact(found.to, now)} {zone(found.to)} ({length(found.to - found.since)})"
    if len(found.parts) > 1:
        return f"{len(found.parts)} stretches, most of it {most.category.label}, {when}"
    where = f"{most.machine} {most.pool}" if most.held else "on no machine"
    still = "" if most.to is not None else ", goes on"
    unseen = ", unobserved" if most.unobserved else ""
    return f"{most.category.label}, {when}{still}, {where}, attempt {most.attempt}, {gpus(most.gpus_milli)}{unseen}"


def exact(at: int, now: int) -> str:
    """Return an instant to the second, and to the millisecond where it is between two."""
    rest = f".{at % 1000:03d}" if at % 1000 else ""
    return day_and_clock(at, now, "%H:%M:%S") + rest


def axis(zoom: Zoom, now: int) -> Markup:
    """Return the shared axis of time: each of its marks leads to the stretch that begins there."""
    ticks = zoom.ticks()
    step = ticks[1] - ticks[0] if len(ticks) > 1 else zoom.length
    marks = "".join(
        f'<line x1="{percent(x)}" x2="{percent(x)}" y1="14" y2="20"/><a href="{escape(zoom.link(at, at + step))}">'
        f'<text x="{percent(x)}" y="11">{label(at, now)}</text></a>'
        for at in ticks
        for x in [(at - zoom.start) * 100_000 // zoom.length]
        if x < 96_000
    )
    return Markup(
        f'<svg class="axis" width="100%" height="20" role="group" aria-label="Time, {zone_name()}">{marks}</svg>'
    )


def label(at: int, now: int) -> str:
    """Return the name of a mark: the day at midnight, else the clock."""
    clock = moment(at).strftime("%H:%M")
    return day_and_clock(at, now).removesuffix(" 00:00") if clock == "00:00" else clock
