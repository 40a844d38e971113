"""Who of a run is slow now, and what each worker's input pipeline takes of a batch, the slowest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from dashboards.bars import WIDTH, Markup, percent
from dashboards.sections.view import RunView
from dashboards.straggling import seconds, straggling
from ledger import queries
from ledger.queries import WorkerPipeline

SHOWN = 20
SHOWN_MAX = 1_000
STAGES = ("source", "transform", "transfer", "overhead")


@dataclass(frozen=True)
class Pipeline:
    """A worker's pipeline as a line of the table; `bar` shows a batch beside the slowest worker's."""

    name: str
    batch: str
    stages: tuple[str, ...]
    goodput: str
    step: str
    bar: Markup


def part(view: RunView) -> dict[str, Any] | None:
    """Return what is slow now, and the first pipelines, or all of them when `pipelines=all` asks for it."""
    window = view.shown.window
    found = [one for one in queries.pipeline(view.run, window.start, window.end) if one.batches]
    stragglers = straggling(view.scope, view.run.id)
    if not found and not stragglers.lines:
        return None
    limit = SHOWN_MAX if view.query.get("pipelines") == "all" else SHOWN
    full = max((span_of(one) for one in found), default=0)
    return {
        "stragglers": stragglers if stragglers.lines else None,
        "pipelines": [line(one, full) for one in found[:limit]],
        "pipelines_more": len(found) - limit,
        "pipelines_all": f"?{urlencode(view.shown.state | {'pipelines': 'all'})}#pipelines",
        "stages": STAGES,
    }


def line(of: WorkerPipeline, full: int) -> Pipeline:
    times = parts(of)
    return Pipeline(
        name=of.name,
        batch=micro(of.batch_us),
        stages=tuple(micro(time) for time in times),
        goodput=f"{round(Fraction(of.productive_us * 100, of.wall_us))} %" if of.wall_us else "–",
        step="–" if of.median_ms is None else seconds(of.median_ms),
        bar=bar(times, full),
    )


def parts(of: WorkerPipeline) -> tuple[int, ...]:
    """Return what each stage, and the overhead, takes of a batch in microseconds; where stages overlap no overhead."""
    sums = (of.source_us, of.transform_us, of.transfer_us, max(0, of.overhead_us))
    return tuple(one // of.batches for one in sums)


def span_of(of: WorkerPipeline) -> int:
    return sum(parts(of))


def bar(times: Sequence[int], full: int) -> Markup:
    """Return a bar of the four parts; only numbers and words of this project get in."""
    start, rects, total = 0, "", 0
    for place, time in enumerate(times):
        total += time
        end = total * WIDTH // full if full else 0
        rects += f'<rect class="p{place}" x="{percent(start)}" width="{percent(end - start)}"/>' if end > start else ""
        start = end
    said = "; ".join(f"{name} {micro(time)}" for name, time in zip(STAGES, times, strict=True))
    return Markup(
        f'<div class="where" role="img" tabindex="0" aria-label="{said}">'
        f'<svg class="bar" aria-hidden="true">{rects}</svg></div>'
    )


def micro(us: int) -> str:
    """Say a time that may be short: 85 µs, 4.2 ms, 850 ms, 1.25 s."""
    if us < 1_000:
        return f"{us} µs"
    return f"{us / 1_000:.3g} ms" if us < 1_000_000 else seconds(us // 1_000)
