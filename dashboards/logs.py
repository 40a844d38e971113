"""Log goodput as it is drawn: the waterfall of its terms, steps over time, the time of a step. Times are µs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dashboards.bars import Markup
from dashboards.moments import length
from dashboards.numbers import share

WIDTH, HEIGHT = 1000, 160
LOW = 64
Picture = dict[str, Any]
Dot = tuple[int, int]

TERMS = (
    ("lost", "Lost work", "done again, since the last checkpoint before each interruption"),
    ("reschedule", "Reschedule", "from each interruption to the next start of the application"),
    ("resume", "Resume", "from each start of the application to its first step"),
    ("saving", "Saving", "checkpoints, each from its beginning to its end"),
)


@dataclass(frozen=True)
class Fall:
    """A row of the waterfall: what it is called and means, how long, its part of the training time, its bar."""

    name: str
    meaning: str
    lasted: str
    share: str
    bar: Markup


def waterfall(of: Picture) -> list[Fall]:
    """Return training time, what goes off it term by term, and what is left: productive time."""
    whole = of.get("training")
    if not whole or whole < 0:
        return []
    rows = [
        Fall(
            "Training time",
            "from the first start until now, or the end",
            duration(whole),
            "",
            bar(0, whole, whole, "all"),
        )
    ]
    left = whole
    for key, name, meaning in TERMS:
        took = of[key]
        left -= took
        rows.append(Fall(name, meaning, duration(took), share(took, whole), bar(left, took, whole, "off")))
    rows.append(Fall("Productive", "what is left", duration(left), share(left, whole), bar(0, left, whole, "left")))
    return rows


def bar(begin: int, long: int, whole: int, kind: str) -> Markup:
    """Return a bar from `begin` on, on the scale of the whole."""
    x, width = (max(Fraction(value * 100, whole), Fraction(0)) for value in (begin, long))
    if not width:
        return Markup()
    return Markup(
        f'<svg class="fall" width="100%" height="14" aria-hidden="true">'
        f'<rect class="{kind}" x="{float(x):.3f}%" width="{float(max(width, Fraction(1, 5))):.3f}%" height="14"/></svg>'
    )


def duration(us: int) -> str:
    """Return a length of time: "38.4 s" below two minutes, else its two largest units; with its sign."""
    sign, us = ("−", -us) if us < 0 else ("", us)
    if us < 120_000_000:
        return f"{sign}{us // 1_000_000}.{us % 1_000_000 // 100_000} s"
    return sign + length(us // 1_000)


def steps(of: Picture) -> Markup:
    """Return the steps over time as a line, with interruptions and checkpoints marked; "" when nothing has a time."""
    dots = [(point[0], point[1]) for point in of.get("steps", ()) if point[0] is not None and point[1] is not None]
    if len(dots) < 2:
        return Markup()
    begin, end = of.get("start") or dots[0][0], of.get("end") or dots[-1][0]
    marks = (("break", of.get("breaks", ())), ("save", of.get("checkpoints", ())))
    top = max(step for _, step in dots)
    low = min(step for _, step in dots)
    breaks = sorted(at for at, *_ in of.get("breaks", ()) if at is not None)
    lines = "".join(
        f'<polyline points="{points(part, (begin, end), (low, top), HEIGHT)}"/>' for part in parts(dots, breaks)
    )
    told = "".join(mark(kind, rows, begin, end) for kind, rows in marks)
    return Markup(picture("steps", HEIGHT, told + lines))


def pace(of: Picture) -> Markup:
    """Return the time of a step over time as a line."""
    dots = [(point[0], point[2]) for point in of.get("steps", ()) if point[0] is not None and point[2] is not None]
    if len(dots) < 2:
        return Markup()
    begin, end = of.get("start") or dots[0][0], of.get("end") or dots[-1][0]
    usual = sorted(took for _, took in dots)[len(dots) * 95 // 100]
    kept = [(at, min(took, usual * 2)) for at, took in dots]
    line = f'<polyline points="{points(kept, (begin, end), (0, max(took for _, took in kept)), LOW)}"/>'
    return Markup(picture("pace", LOW, line))


def picture(name: str, height: int, inside: str) -> str:
    return (
        f'<svg class="graph {name}" viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none" width="100%" '
        f'height="{height}" aria-hidden="true">{inside}</svg>'
    )


def parts(dots: Sequence[Dot], breaks: Iterable[int]) -> list[list[Dot]]:
    """Return the points by stretches between interruptions."""
    found: list[list[Dot]] = [[]]
    edges = list(breaks)
    for at, step in dots:
        while edges and at > edges[0]:
            edges.pop(0)
            found.append([])
        found[-1].append((at, step))
    return [part for part in found if part]


def points(dots: Iterable[Dot], across: tuple[int, int], up: tuple[int, int], height: int) -> str:
    """Return points on the picture's scale, 4 away from its upper and lower edge."""
    long, tall = max(across[1] - across[0], 1), max(up[1] - up[0], 1)
    return " ".join(
        f"{(at - across[0]) * WIDTH / long:.1f},{height - 4 - (value - up[0]) * (height - 8) / tall:.1f}"
        for at, value in dots
    )


def mark(kind: str, rows: Iterable[Sequence[int | None]], begin: int, end: int) -> str:
    """Return marks: an interruption from top to bottom, a checkpoint at the foot."""
    top = 0 if kind == "break" else HEIGHT - 10
    found = ((row[0] - begin) * WIDTH / max(end - begin, 1) for row in rows if row and row[0] is not None)
    path = "".join(f"M{x:.1f} {top}V{HEIGHT}" for x in found if 0 <= x <= WIDTH)
    return f'<path class="{kind}" d="{path}"/>' if path else ""
