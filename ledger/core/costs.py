"""What GPU time cost: amounts of it times prices, exact until they are written."""

from dataclasses import dataclass
from fractions import Fraction

from ledger.core.totals import GPU_US_PER_HOUR

MICROS = 1_000_000
ONE = GPU_US_PER_HOUR * MICROS


@dataclass(frozen=True, slots=True)
class Cost:
    """Sums of GPU-microseconds × price, the price in millionths of the currency a GPU-hour.

    `held`: of all GPU time held; `productive`: of what was productive; `unpriced`: GPU-microseconds held for which
    no price was set.
    """

    held: int = 0
    productive: int = 0
    unpriced: int = 0

    def __post_init__(self) -> None:
        assert 0 <= self.productive <= self.held, "productive ≤ held, nothing negative"
        assert self.unpriced >= 0, "nothing negative"

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.held + other.held, self.productive + other.productive, self.unpriced + other.unpriced)

    @property
    def not_productive(self) -> int:
        return self.held - self.productive


def money(amount: int) -> Fraction:
    """Return an amount in the currency: 3,600,000,000 GPU-µs × 2,500,000 → 2.5."""
    return Fraction(amount, ONE)
