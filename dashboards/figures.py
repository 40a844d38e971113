"""The five figures of a window: what they are, how they changed, how they went."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dashboards.bars import Markup
from dashboards.numbers import ABSENT, hours, money, points, relative, share
from dashboards.sparks import spark
from ledger.core.costs import Cost
from ledger.core.totals import Ledger, percent


@dataclass(frozen=True)
class Figure:
    """One figure. `change` against the period before is None when there is nothing to compare with.

    `was_nothing`: the period before was counted, and there was nothing of it.
    """

    key: str
    label: str
    meaning: str
    value: str
    unit: str
    note: str
    change: str | None
    was_nothing: bool
    spark: Markup
    money: str = ""


@dataclass(frozen=True)
class Measured:
    """A window: its ledger, that of the period before (None: not counted), its buckets; `partial`: it is not over.

    `cost` is None where no price is set.
    """

    now: Ledger
    before: Ledger | None = None
    sums: Sequence[Ledger] = ()
    partial: bool = False
    cost: Cost | None = None
    currency: str = ""

    def five(self) -> tuple[Figure, ...]:
        """Return goodput, GPU time held, productive, not productive, waiting."""
        cost = self.cost or Cost()
        held = self.amount("held", "GPU time held", "on a machine, whatever was done with it", lambda of: of.allocated)
        used = self.amount("productive", "Productive", "running, and its GPUs are busy", lambda of: of.productive)
        lost = self.amount(
            "lost", "Not productive", "held − productive", lambda of: of.not_productive, biggest(self.now)
        )
        return (
            self.goodput(),
            replace(held, money=self.priced(cost.held, cost.unpriced)),
            replace(used, money=self.priced(cost.productive)),
            replace(lost, money=self.priced(cost.not_productive)),
            self.amount("waiting", "Waiting", "asked for, not yet held", lambda of: of.waiting, again(self.now)),
        )

    def priced(self, amount: int, unpriced: int = 0) -> str:
        """Say what GPU time cost, and how much of it had no price; "" where no price is set."""
        if self.cost is None:
            return ""
        rest = f", {hours(unpriced)} GPU-hours without a price" if unpriced else ""
        return f"{money(amount)} {self.currency}{rest}"

    def goodput(self) -> Figure:
        unobserved = share(self.now.unobserved_productive, self.now.allocated)
        return Figure(
            key="goodput",
            label="Goodput",
            meaning="productive / held",
            value=percent(self.now.goodput, ABSENT),
            unit="",
            note=f"of it unobserved {unobserved}" if self.now.unobserved_share else "",
            change=points(self.now.goodput, self.before.goodput) if self.before else None,
            was_nothing=self.before is not None and self.before.goodput is None,
            spark=spark(self.sums, lambda of: of.goodput, Fraction(1), partial=self.partial),
        )

    def amount(self, key: str, label: str, meaning: str, of: Callable[[Ledger], int], note: str = "") -> Figure:
        """Return a figure that is an amount of GPU time."""
        return Figure(
            key=key,
            label=label,
            meaning=meaning,
            value=hours(of(self.now)),
            unit="GPU-hours",
            note=note,
            change=relative(of(self.now), of(self.before)) if self.before else None,
            was_nothing=self.before is not None and not of(self.before),
            spark=spark(self.sums, of, partial=self.partial),
        )


def biggest(ledger: Ledger) -> str:
    """Name the largest loss."""
    worst = ledger.biggest_loss
    return "" if worst is None else f"most: {worst.label} {hours(ledger.amounts[worst])}"


def again(ledger: Ledger) -> str:
    """Say how much of the waiting came after an attempt."""
    return f"of it to be placed again {hours(ledger.waiting_again)}" if ledger.waiting_again else ""
