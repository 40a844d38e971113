"""What was lost, in words: a line a loss, of a run or of machines."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dashboards.bars import Markup, bar
from dashboards.lanes import exact
from dashboards.moments import clock, day_and_clock, length, moment, zone
from dashboards.numbers import hours, share
from dashboards.zoom import Zoom
from ledger.core.categories import Category
from ledger.core.totals import Ledger
from ledger.queries import Loss, StraggledRun, Trouble

SHOWN, SHOWN_MAX = 10, 500
MARGIN = 60_000
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


@dataclass(frozen=True, kw_only=True)
class InWords:
    """A loss as a table tells it; `exactly` says to the millisecond what `when` says to the minute."""

    what: str
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


@dataclass(frozen=True, kw_only=True)
class ShownLoss(InWords):
    """A loss of a run; `href` looks at it in the timeline."""

    where: str
    href: str


def shown_losses(losses: Iterable[Loss], lost: int, zoom: Zoom, now: int) -> list[ShownLoss]:
    """Return the losses; `lost` is all that the run lost, GPU-microseconds."""
    rows = list(losses)
    most = costliest(rows)
    return [
        ShownLoss(where=loss.machine, href=zoom.link(*around(loss)), **said(loss, lost, most, now)) for loss in rows
    ]


def costliest(losses: Iterable[Loss | Trouble]) -> int:
    """Return what the costliest of some losses cost, GPU-microseconds: its bar takes the whole width."""
    return max((loss.ledger.asked for loss in losses), default=0)


def said(loss: Loss | Trouble, whole: int, most: int, now: int) -> dict[str, Any]:
    """Return the fields of InWords; `whole` is what all losses cost, `most` the costliest, GPU-microseconds."""
    return {
        "what": words(loss),
        "since": loss.since,
        "when": f"{day_and_clock(loss.since, now)} – {until(loss, now)}",
        "exactly": f"{exact(loss.since, now)} – {exact(loss.until, now)} {zone(loss.until)}",
        "lasted": length(loss.until - loss.since),
        "still": loss.still,
        "workers": loss.workers,
        "parts": listed(loss.ledger),
        "hours": hours(loss.ledger.asked),
        "share": share(loss.ledger.asked, whole),
        "bar": bar(loss.ledger, most),
    }


def around(loss: Loss | Trouble | StraggledRun) -> tuple[int, int]:
    """Return the part of a timeline, ms, that shows a loss and what was before and after it."""
    margin = max((loss.until - loss.since) // 4, MARGIN)
    return loss.since - margin, loss.until + margin


def listed(ledger: Ledger) -> str:
    """Say what was lost, category by category: "failure 3.5, restart 0.9"."""
    return ", ".join(f"{c.label} {hours(ledger.amounts[c])}" for c in Category if ledger.amounts[c])


def until(loss: Loss | Trouble | StraggledRun, now: int) -> str:
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
