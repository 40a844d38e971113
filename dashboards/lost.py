"""What a run lost, in words: a line a loss."""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboards.bars import Markup, bar
from dashboards.lanes import exact
from dashboards.moments import clock, day_and_clock, length, moment, zone
from dashboards.numbers import hours, share
from dashboards.zoom import Zoom
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.queries import Loss, Trouble

SHOWN = 10
SHOWN_MAX = 500
REASONS = {
    "failure": "failed",
    "node_lost": "node lost",
    "gpu_fault": "GPU fault",
    "stalled": "stopped for a stall",
    "preemption": "preempted",
    "drain": "drained",
}
WORDS = {
    Category.IDLE: "GPUs idle",
    Category.STALLED: "no progress",
    Category.STARTING: "first start",
    Category.RESTART: "started again",
    Category.FAILURE: "failed",
    Category.PREEMPTION: "preempted",
    Category.WAITING: "waited for GPUs",
}


@dataclass(frozen=True)
class ShownLoss:
    """A loss ready to be shown; `href` looks at it in the timeline."""

    what: str
    where: str
    since: int
    when: str
    exactly: str
    lasted: str
    still: bool
    workers: int
    parts: str
    hours: str
    share: str
    bar: Markup
    href: str


def shown_losses(losses: Iterable[Loss], lost: int, zoom: Zoom, now: int) -> list[ShownLoss]:
    """Return the losses; `lost` is all that the run lost, GPU-microseconds. The costliest bar takes the whole width."""
    rows = list(losses)
    most = max((loss.ledger.asked for loss in rows), default=0)
    return [shown_loss(loss, lost, most, zoom, now) for loss in rows]


def shown_loss(loss: Loss, lost: int, most: int, zoom: Zoom, now: int) -> ShownLoss:
    margin = max((loss.until - loss.since) // 4, 60_000)
    return ShownLoss(
        what=words(loss),
        where=loss.machine,
        since=loss.since,
        when=f"{day_and_clock(loss.since, now)} – {until(loss, now)}",
        exactly=f"{exact(loss.since, now)} – {exact(loss.until, now)} {zone(loss.until)}",
        lasted=length(loss.until - loss.since),
        still=loss.still,
        workers=loss.workers,
        parts=listed(loss.ledger),
        hours=hours(loss.ledger.asked),
        share=share(loss.ledger.asked, lost),
        bar=bar(loss.ledger, most),
        href=zoom.link(loss.since - margin, loss.until + margin),
    )


def listed(ledger: Ledger) -> str:
    """Say what was lost, category by category: "failure 3.5, restart 0.9"."""
    return ", ".join(f"{c.label} {hours(ledger.amounts[c])}" for c in Category if ledger.amounts[c])


def until(loss: Loss | Trouble, now: int) -> str:
    """Return when a loss ended, with its day when that is not the day it began."""
    if loss.still:
        return "now"
    same_day = moment(loss.since).date() == moment(loss.until).date()
    return clock(loss.until) if same_day else day_and_clock(loss.until, now)


def words(loss: Loss | Trouble) -> str:
    """Say why: the reasons that its source gave, else what it was for the most part."""
    if loss.reasons:
        return ", ".join(REASONS[reason] for reason in loss.reasons)
    return WORDS[max(WORDS, key=lambda category: loss.ledger.amounts[category])]
