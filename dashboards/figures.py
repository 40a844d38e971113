"""The five figures of a window: what they are, how they changed, how they went."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dashboards.bars import Markup
from dashboards.numbers import ABSENT, hours, points, relative, share
from dashboards.sparks import Figure as OfLedger
from dashboards.sparks import spark
from ledger.core.totals import Ledger, percent


@dataclass(frozen=True)
class Figure:
    """One figure. `change` against the period before is None when there is nothing to compare with."""

    key: str
    label: str
    meaning: str
    value: str
    unit: str
    note: str
    change: str | None
    spark: Markup


def five(now: Ledger, before: Ledger | None, sums: Sequence[Ledger]) -> tuple[Figure, ...]:
    """Return goodput, GPU time held, productive, not productive, waiting; `sums` are the buckets of the window."""
    return (
        Figure(
            "goodput",
            "Goodput",
            "productive / held",
            percent(now.goodput, ABSENT),
            "",
            f"of it unobserved {share(now.unobserved_productive, now.allocated)}" if now.unobserved_share else "",
            points(now.goodput, before.goodput) if before else None,
            spark(sums, lambda ledger: ledger.goodput, Fraction(1)),
        ),
        amount("held", "GPU time held", "on a machine, whatever was done with it", "", now, before, sums),
        amount("productive", "Productive", "running, and its GPUs are busy", "", now, before, sums),
        amount("lost", "Not productive", "held − productive", biggest(now), now, before, sums),
        amount("waiting", "Waiting", "asked for, not yet held", again(now), now, before, sums),
    )


AMOUNTS: dict[str, OfLedger] = {
    "held": lambda ledger: ledger.allocated,
    "productive": lambda ledger: ledger.productive,
    "lost": lambda ledger: ledger.not_productive,
    "waiting": lambda ledger: ledger.waiting,
}


def amount(
    key: str,
    label: str,
    meaning: str,
    note: str,
    now: Ledger,
    before: Ledger | None,
    sums: Sequence[Ledger],
) -> Figure:
    """Return a figure that is an amount of GPU time."""
    of = AMOUNTS[key]
    value, was = of(now), of(before) if before else None
    assert isinstance(value, int), "an amount is an integer"
    change = relative(value, was) if isinstance(was, int) else None
    return Figure(key, label, meaning, hours(value), "GPU-hours", note, change, spark(sums, of))


def biggest(ledger: Ledger) -> str:
    """Name the largest loss."""
    worst = ledger.biggest_loss
    return "" if worst is None else f"most: {worst.label} {hours(ledger.amounts[worst])}"


def again(ledger: Ledger) -> str:
    """Say how much of the waiting came after an attempt."""
    return f"of it to be placed again {hours(ledger.waiting_again)}" if ledger.waiting_again else ""
